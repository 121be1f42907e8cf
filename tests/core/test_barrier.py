from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxgc.core import barrier as module
from ctxgc.core.barrier import TRACKED, Barrier, Stale
from ctxgc.core.resource_tables import Access, Verb
from tests.strategies import broken_texts, texts

A, B = "/r/src/a.py", "/r/src/b.py"
SOURCE = "".join(f"line {number} of a file, as it is\n" for number in range(1, 101))


def read(path: str = A, start: int | None = None, end: int | None = None, query: str = "") -> Access:
    return Access(Verb.READ, path, start, end, query)


def write(path: str = A) -> Access:
    return Access(Verb.WRITE, path)


def edit(quotes: str = "", path: str = A) -> Access:
    return Access(Verb.EDIT, path, quotes=quotes)


def lines(start: int, end: int, text: str = SOURCE) -> str:
    return "".join(text.splitlines(keepends=True)[start - 1 : end])


def fed(*results: tuple[Access | tuple[Access, ...], str]) -> Barrier:
    """A barrier after these results, whose cells count from 0."""
    barrier = Barrier()
    for cell, (accesses, text) in enumerate(results):
        barrier.take(cell, accesses if isinstance(accesses, tuple) else (accesses,), text, False)
    return barrier


def stale(barrier: Barrier, cells: int = 20) -> dict[int, str]:
    return {cell: entry.why for cell in range(cells) if (entry := barrier.stale(cell))}


def test_a_write_makes_every_earlier_read_of_the_file_stale() -> None:
    barrier = Barrier()
    assert barrier.take(1, (read(),), SOURCE, False) == ()
    assert barrier.take(2, (read(start=1, end=9),), lines(1, 9), False) == ()
    assert barrier.take(3, (write(),), "written", False) == (Stale(1, 3, "written"), Stale(2, 3, "written"))
    assert barrier.stale(1) == Stale(1, 3, "written")
    assert barrier.take(4, (read(),), SOURCE, False) == ()
    assert barrier.stale(4) is None


def test_a_write_to_another_file_makes_nothing_stale() -> None:
    assert stale(fed((read(), SOURCE), (write(B), ""))) == {}


def test_a_second_read_of_the_same_range_supersedes_the_first() -> None:
    assert stale(fed((read(), SOURCE), (read(), SOURCE))) == {0: "read again"}
    assert stale(fed((read(start=5, end=9), lines(5, 9)), (read(start=5, end=9), lines(5, 9)))) == {0: "read again"}


def test_a_read_supersedes_what_it_covers() -> None:
    barrier = fed((read(start=5, end=9), lines(5, 9)), (read(start=50), lines(50, 100)), (read(), SOURCE))
    assert stale(barrier) == {0: "read again", 1: "read again"}


RANGES = tuple((read(start=at, end=at + 24), lines(at, at + 24)) for at in (1, 26, 51, 76))


def test_different_ranges_do_not_supersede_each_other() -> None:
    barrier = fed(*RANGES)
    assert stale(barrier) == {}
    assert barrier.quoted() == {0, 1, 2, 3}


def test_a_rule_that_knows_a_file_by_its_path_only_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_supersedes", lambda new, old, anchored: True)
    assert stale(fed(*RANGES)) != {}


def test_a_part_does_not_supersede_the_whole() -> None:
    assert stale(fed((read(), SOURCE), (read(start=5, end=9), lines(5, 9)))) == {}


def test_a_read_that_the_tool_cut_short_does_not_supersede_what_it_does_not_reach() -> None:
    assert stale(fed((read(start=80, end=99), lines(80, 99)), (read(), lines(1, 50)))) == {}


@pytest.mark.parametrize(
    "text",
    [
        "unchanged since r1",
        "<note>File unchanged since last read. See above.</note>",
        "[ctxgc:abcdefghijklmnop unchanged: same output as the earlier read]",
        "",
        " \n",
        "ok",
        "Error: file is locked",
        "<tool_use_error>File does not exist.</tool_use_error>",
        "cat: /r/src/a.py: No such file or directory",
        "<returncode>1</returncode>\n<output></output>",
    ],
)
def test_what_is_no_read_supersedes_none(text: str) -> None:
    barrier = fed((read(), SOURCE), (read(), text))
    assert stale(barrier) == {}
    assert 0 in barrier.quoted()


def test_a_failed_result_changes_nothing() -> None:
    barrier = fed((read(), SOURCE))
    assert barrier.take(1, (write(),), "", True) == ()
    assert barrier.take(2, (read(),), SOURCE, True) == ()
    assert barrier.take(3, (edit("line 3"),), "ERROR:\nNo replacement was performed, ...", False) == ()
    assert stale(barrier) == {}
    assert barrier.quoted() == {0}


@pytest.mark.parametrize("text", ["The file /r/errors/error.py has been updated.", "Successfully replaced text", ""])
def test_a_write_that_says_little_was_made(text: str) -> None:
    assert stale(fed((read(), SOURCE), (write(), text))) == {0: "written"}


NUMBERED = "".join(f"{number:6}\t{line}" for number, line in enumerate(SOURCE.splitlines(keepends=True), 1))


@pytest.mark.parametrize("text", [SOURCE, NUMBERED, NUMBERED.replace("\t", "→"), NUMBERED.replace("\t", " | ")])
def test_the_read_that_an_edit_quoted_from_stays_until_it_is_read_again(text: str) -> None:
    quote = "line 30 of a file, as it is\n  line 31 of a file, as it is"
    barrier = fed((read(start=1, end=25), lines(1, 25, text)), (read(start=26, end=50), lines(26, 50, text)))
    barrier.take(2, (edit(quote),), "edited", False)
    assert stale(barrier) == {0: "written"}
    assert barrier.quoted() == {1}
    barrier.take(3, (edit(),), "edited", False)
    assert barrier.quoted() == {1}
    barrier.take(4, (read(start=26, end=50),), lines(26, 50, text), False)
    assert stale(barrier) == {0: "written", 1: "read again"}
    assert barrier.quoted() == {4}


def test_a_full_write_ends_what_was_quoted() -> None:
    barrier = fed((read(), SOURCE), (edit("line 3 of"), "edited"), (write(), "written"))
    assert stale(barrier) == {0: "written"}
    assert barrier.quoted() == frozenset()


def test_the_newest_read_that_holds_the_quote_is_the_one_quoted_from() -> None:
    barrier = fed((read(), SOURCE), (read(start=1, end=9), lines(1, 9)), (edit("line 3 of"), "edited"))
    assert stale(barrier) == {0: "written"}


def test_an_edit_that_no_read_seems_to_hold_keeps_the_newest() -> None:
    barrier = fed((read(), SOURCE), (read(start=1, end=9), lines(1, 9)), (edit("elsewhere"), "edited"))
    assert stale(barrier) == {0: "written"}
    assert barrier.quoted() == {1}


def test_several_edits_of_one_call_each_keep_what_they_quote() -> None:
    barrier = fed(*RANGES, ((edit("line 3 of"), edit("line 80 of")), "edited"))
    assert stale(barrier) == {1: "written", 2: "written"}


def test_a_filtered_view_may_be_shortened_unless_an_edit_quoted_from_it() -> None:
    barrier = fed((read(query="grep 3"), lines(3, 3)))
    assert barrier.quoted() == frozenset()
    barrier.take(1, (edit("line 3 of"),), "edited", False)
    assert barrier.quoted() == {0}
    barrier.take(2, (read(query="grep 3"),), lines(3, 3), False)
    assert barrier.quoted() == frozenset()
    assert stale(barrier) == {0: "read again"}


def test_a_filtered_view_and_a_read_do_not_supersede_each_other() -> None:
    assert stale(fed((read(query="grep 3"), SOURCE), (read(), SOURCE), (read(query="grep 4"), SOURCE))) == {}


def test_listings_and_searches_are_superseded_by_the_same_and_not_by_writes() -> None:
    listing, search = Access(Verb.LIST, "/r/src", query="ls"), Access(Verb.SEARCH, "/r/src", query="grep f")
    barrier = fed((listing, "a.py\nb.py"), (search, "a.py:1: f"), (write("/r/src"), ""), (write(), ""))
    assert stale(barrier) == {}
    barrier.take(
        4, (Access(Verb.LIST, "/r/src", query="ls -la"), Access(Verb.SEARCH, "/r/src", query="grep g")), "x", False
    )
    assert stale(barrier) == {}
    barrier.take(5, (listing, search), "a.py\nb.py\nc.py", False)
    assert stale(barrier) == {0: "listed again", 1: "searched again"}


@pytest.mark.parametrize("resource", ["git:status", "git:diff"])
def test_any_write_makes_the_state_of_the_working_tree_stale(resource: str) -> None:
    assert stale(fed((read(resource, query="git"), " M a.py"), (edit("x", B), "edited"))) == {0: "written"}
    assert stale(fed((read("git:log", query="git"), "c0ffee"), (edit("x", B), "edited"))) == {}


def test_a_result_of_several_reads_is_stale_with_the_last_of_them() -> None:
    barrier = fed(((read(A), read(B)), SOURCE), (write(A), ""))
    assert stale(barrier) == {}
    assert barrier.take(2, (write(B),), "", False) == (Stale(0, 2, "written"),)


def test_a_result_does_not_supersede_itself() -> None:
    assert stale(fed(((read(), read()), SOURCE))) == {}
    assert stale(fed(((edit(), read()), SOURCE))) == {}


def test_a_relative_path_means_the_absolute_one_that_ends_with_it() -> None:
    assert stale(fed((read("/r/src/a.py"), SOURCE), (write("src/a.py"), ""))) == {0: "written"}
    assert stale(fed((read("src/a.py"), SOURCE), (write("/r/src/a.py"), ""))) == {0: "written"}
    assert stale(fed((read("src/a.py"), SOURCE), (read("/r/src/a.py"), SOURCE))) == {0: "read again"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/r/a.py", "a.py"),
        ("/r/src/a.py", "rc/a.py"),
        ("/r/src/a.py", "/src/a.py"),
        ("x/src/a.py", "src/a.py"),
        ("https://h/src/a.py", "src/a.py"),
    ],
)
def test_paths_that_only_look_alike_do_not_meet(one: str, other: str) -> None:
    assert stale(fed((read(one), SOURCE), (write(other), ""))) == {}
    assert stale(fed((read(other), SOURCE), (write(one), ""))) == {}


def test_a_relative_path_that_may_mean_two_files_means_neither() -> None:
    assert stale(fed((read("/x/src/a.py"), SOURCE), (read("/y/src/a.py"), SOURCE), (write("src/a.py"), ""))) == {}


def test_one_relative_name_for_two_files_is_told_from_their_text() -> None:
    other = SOURCE.replace("line", "row")
    assert stale(fed((read("a.py"), SOURCE), (read("a.py"), other))) == {}
    assert stale(fed((read("a.py"), SOURCE), (read("a.py"), SOURCE))) == {0: "read again"}


def test_only_so_many_views_of_a_file_are_watched_and_the_others_stay_as_they_are() -> None:
    barrier = Barrier()
    for cell in range(TRACKED + 5):
        barrier.take(cell, (read(start=10 * cell + 1, end=10 * cell + 9),), SOURCE, False)
    assert len(barrier.take(1000, (write(),), "", False)) == TRACKED
    assert barrier.quoted() == {0, 1, 2, 3, 4}
    assert all(barrier.stale(cell) is None for cell in range(5))


@given(st.lists(st.one_of(texts(), broken_texts()), max_size=6))
def test_any_text_is_taken(results: list[str]) -> None:
    barrier = Barrier()
    for cell, text in enumerate(results):
        barrier.take(cell, (read(text[:9] or "x"), edit(text), read()), text, False)
    assert not any(barrier.stale(cell) for cell in barrier.quoted())


@dataclass
class Model:
    """Files with versions: what each read saw, and at which version of its file."""

    versions: dict[str, int] = field(default_factory=dict)
    reads: list[tuple[int, str, int, int, int]] = field(default_factory=list)

    def outdated(self, cell: int) -> bool:
        """Whether the file has another version since, or a later read shows all that this one did."""
        _, path, version, start, end = next(entry for entry in self.reads if entry[0] == cell)
        again = any(
            later > cell and other == path and first <= start and end <= last
            for later, other, _, first, last in self.reads
        )
        return again or self.versions.get(path, 0) != version


Step = tuple[str, str, int, int, bool]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("read", "read", "write", "edit")),
        st.sampled_from((A, B)),
        st.integers(1, 30),
        st.integers(0, 30),
        st.booleans(),
    ),
    max_size=25,
)


def check(steps: list[Step]) -> None:
    """A read is stale just when the model says so, and else it is quoted."""
    barrier, model = Barrier(), Model()
    for cell, (act, path, start, more, failed) in enumerate(steps):
        end = min(start + more, 40)
        access = {"read": read(path, start, end), "write": write(path), "edit": edit("", path)}[act]
        barrier.take(cell, (access,), lines(start, end) if act == "read" else "done", failed)
        if act == "read" and not failed:
            model.reads.append((cell, path, model.versions.get(path, 0), start, end))
        elif not failed:
            model.versions[path] = model.versions.get(path, 0) + 1
    for cell, *_ in model.reads:
        assert (barrier.stale(cell) is not None) == model.outdated(cell)
        assert (cell in barrier.quoted()) != model.outdated(cell)


CROSSING: list[Step] = [
    ("read", A, 1, 10, False),
    ("read", A, 5, 20, False),
    ("read", A, 1, 24, False),
    ("read", A, 30, 5, False),
]


@given(STEPS)
@example(CROSSING)
def test_reads_are_stale_when_the_file_was_written_or_the_range_read_again_and_only_then(steps: list[Step]) -> None:
    check(steps)


@pytest.mark.parametrize(
    ("name", "defect"),
    [
        ("_supersedes", lambda new, old, anchored: True),
        ("_supersedes", lambda new, old, anchored: False),
        ("_shows_nothing", lambda text: True),
    ],
)
def test_the_model_notices_a_defect(name: str, defect: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, defect)
    with pytest.raises(AssertionError):
        check(CROSSING)


def test_a_barrier_that_forgets_writes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Barrier, "_write", lambda self, access, gone: None)
    with pytest.raises(AssertionError):
        check([("read", A, 1, 5, False), ("edit", A, 1, 1, False)])
