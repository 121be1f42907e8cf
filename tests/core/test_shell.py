from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.resource_tables import Access, Verb
from ctxgc.core.shell import effects
from tests.strategies import broken_texts, texts

READ, WRITE, EDIT, LIST, SEARCH = Verb.READ, Verb.WRITE, Verb.EDIT, Verb.LIST, Verb.SEARCH
STAGED = (Access(WRITE, "git:status"), Access(WRITE, "git:diff"))


def of(line: str) -> tuple[Access, ...]:
    return effects(line).accesses


@pytest.mark.parametrize(
    ("line", "start", "end"),
    [
        ("cat f", None, None),
        ("cat -n 'f' 2>/dev/null", None, None),
        ("nl -ba f", None, None),
        ("less f", None, None),
        ("head f", None, 10),
        ("head -50 f", None, 50),
        ("head -n 50 f", None, 50),
        ("tail -n +7 f", 7, None),
        ("sed -n '10,20p' f", 10, 20),
        ("sed -n 5p f", 5, 5),
        ("sed -n '9,$p' f", 9, None),
        ("cat f | head -50", None, 50),
        ("nl -ba f | sed -n '3,9p'", 3, 9),
        ("tail -n +100 f | head -50", 100, 149),
        ("sed -n '10,20p' f | head -n 5", 10, 14),
        ("echo --- && cat f; true", None, None),
        ("X=1 timeout 5 cat ./f", None, None),
        ("cat f  # all of it", None, None),
        ("bash -c 'cat f'", None, None),
        ("cat f || echo none", None, None),
    ],
)
def test_reads_of_lines(line: str, start: int | None, end: int | None) -> None:
    assert effects(line).accesses == (Access(READ, "f", start, end),)
    assert not effects(line).writes


@pytest.mark.parametrize(
    "line",
    [
        *("cat f | grep x", "tail -20 f", "sed 's/a/b/' f", "wc -l f", "head -c 9 f", "cat f | sort | head -3"),
        *("sed -n '1p;9p' f", "cat -A f", "head -n -5 f", "cat f | tail -5"),
    ],
)
def test_a_filtered_view_is_not_a_plain_read(line: str) -> None:
    (access,) = of(line)
    assert (access.verb, access.resource) == (READ, "f")
    assert access.query
    assert access != of("cat f")[0]


def test_several_files_are_several_reads() -> None:
    assert of("cat a b") == (Access(READ, "a"), Access(READ, "b"))
    assert all(access.query for access in of("cat a b | head -5"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo x > f", (Access(WRITE, "f"),)),
        ("echo x >> f", (Access(EDIT, "f"),)),
        ("python gen.py > out/f 2>&1", (Access(WRITE, "out/f"),)),
        ("echo x | tee f", (Access(WRITE, "f"),)),
        ("echo x | tee -a f g", (Access(EDIT, "f"), Access(EDIT, "g"))),
        ("cat <<EOF > f\n$(rm x) > y\nEOF", (Access(WRITE, "f"),)),
        ("cat > f <<-'END'\n\ta 'b\n\tEND\n", (Access(WRITE, "f"),)),
        ("sed -i 's/a/b/' f g", (Access(EDIT, "f"), Access(EDIT, "g"))),
        ("sed -i '' -e 's/a/b/' f", (Access(EDIT, "f"),)),
        ("rm -rf f g", (Access(WRITE, "f"), Access(WRITE, "g"))),
        ("mv a b", (Access(WRITE, "a"), Access(WRITE, "b"))),
        ("cp a b c/", (Access(WRITE, "c/a"), Access(WRITE, "c/b"))),
        ("touch f", STAGED),
        ("git add -A", STAGED),
        ("git commit -qm done", (*STAGED, Access(WRITE, "git:log"), Access(WRITE, "git:show"))),
        ('git commit -m "$(cat <<EOF\nx\nEOF\n)"', (*STAGED, Access(WRITE, "git:log"), Access(WRITE, "git:show"))),
    ],
)
def test_writes(line: str, expected: tuple[Access, ...]) -> None:
    assert effects(line).accesses == expected
    assert effects(line).writes


def test_git_shows_its_own_resources() -> None:
    (status,) = of("git status --short")
    assert (status.verb, status.resource) == (READ, "git:status")
    assert status.query
    assert of("cd /a && git status") != of("cd /b && git status")
    assert Access(WRITE, "src/a.py") in of("git checkout -- src/a.py")
    assert Access(WRITE, "src/a.py") not in of("git checkout main")


def test_listings_and_searches_are_what_they_ask_for() -> None:
    (listing,) = of("ls -la src/")
    assert (listing.verb, listing.resource) == (LIST, "src")
    (search,) = of("grep -rn --include '*.py' 'def f' src | head -20")
    assert (search.verb, search.resource) == (SEARCH, "src")
    assert search != of("grep -rn --include '*.py' 'def f' src")[0]
    assert of("find . -name '*.py'")[0].verb is LIST


def test_cd_sets_what_relative_paths_start_from() -> None:
    assert of("cd /r && cat a/../b && cd x && cat c") == (Access(READ, "/r/b"), Access(READ, "/r/x/c"))
    assert effects("cat b", "/r").accesses == (Access(READ, "/r/b"),)
    assert of("cd $HOME && echo x > b && echo x > /c") == (Access(WRITE, "/c"),)
    assert of("cd - && echo x > b") == ()


def test_order_is_kept() -> None:
    assert of("sed -i s/a/b/ f && cat f") == (Access(EDIT, "f"), Access(READ, "f"))


@pytest.mark.parametrize(
    "line",
    [
        *(
            "make && cat f",
            "cat f; ./run",
            "cat f | python -m json.tool",
            "cat $F",
            "cat *.py",
            "cat $(ls)",
            "cat `ls`",
        ),
        *("(cat f)", "for f in a b; do cat f; done", "if true; then cat f; fi", "cat 'f", "cat a || cat b", "cat f |"),
        *(
            "find . -delete",
            "diff a b",
            "cat - < f",
            "x <(cat f)",
            "awk '{print > \"g\"}' f",
            "cat f > /dev/null; make",
        ),
        *("eval 'cat f'", "xargs cat", "cat f ;; ", "git stash list", "git push"),
    ],
)
def test_what_is_not_understood_reads_nothing(line: str) -> None:
    assert effects(line).accesses == ()
    assert not effects(line).whole


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("cat f | sort | uniq -c", False),
        ("find . -name x -exec rm {} +", True),
        ("diff a b", False),
        ("python -c 'print(1)'", True),
        ("sort f -o f", True),
        ("awk '{print > \"g\"}' f", True),
        ("sed -n 1,5p f", False),
        ("cd /r && ls", False),
        ("rm $X", True),
        ("> $X", True),
        ("git log --output=x", True),
        ("env", False),
        ("grep -c x f 2>/dev/null || true", False),
        ("if true; then rm x; fi", True),
    ],
)
def test_what_may_have_written(line: str, writes: bool) -> None:
    assert effects(line).writes is writes


def test_a_write_that_may_not_have_run_is_no_write() -> None:
    assert of("test -f f || echo x >> f") == ()
    assert of("if test -f f; then echo x > f; fi") == ()
    assert of("true && echo x >> f") == (Access(EDIT, "f"),)


def test_text_in_quotes_and_documents_is_no_command() -> None:
    assert of("echo 'x > f; rm g'") == ()
    assert of('echo "x > f; rm g"') == ()
    assert of("cat <<EOF\nrm g\nEOF") == ()
    assert of("echo x \\> f") == ()


def test_output_that_went_elsewhere_was_not_shown() -> None:
    assert of("cat a > b") == (Access(WRITE, "b"),)
    assert of("cat a > /dev/null") == ()


@given(st.one_of(texts(), broken_texts()))
def test_any_text_is_read_without_failing(line: str) -> None:
    assert all(access.resource for access in effects(line).accesses)


PARTS = (
    "cat",
    "f",
    " ",
    " ",
    "'",
    '"',
    "\\",
    "$",
    "$(",
    "`",
    "|",
    "||",
    "&&",
    ";",
    "\n",
    ">",
    ">>",
    "2>&1",
    "<<EOF",
    "EOF",
    "-n",
    "#",
    "cd",
    "git",
    "sed -i",
)


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_any_shape_is_read_without_failing(line: str) -> None:
    found = effects(line)
    assert found.whole or not any(access.verb in (READ, LIST, SEARCH) for access in found.accesses)


@pytest.mark.parametrize(
    "part",
    ["'", '"', "\\", "$(", "<<E\n", "cat f; ", "a|", "x ", "> f ", "''", '"$', "2>", "&&\n", "bash -c '", "sed -n 1p "],
)
def test_long_lines_are_looked_at_only_so_far(part: str) -> None:
    found = effects(part * (300_000 // len(part)))
    assert len(found.accesses) < 4096


def test_a_long_document_is_no_long_line() -> None:
    assert of("cat > f <<EOF\n" + "x y z\n" * 50_000 + "EOF\ntouch g") == (Access(WRITE, "f"), *STAGED)


@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_shells_within_shells_are_followed_only_so_far(depth: int) -> None:
    words = "cat f"
    for _ in range(depth):
        words = "bash -c '" + words.replace("'", "'\\''") + "'"
    assert (effects(words).accesses == (Access(READ, "f"),)) is (depth <= 3)
