"""Help that helps, tables for terminals and pipes, and nothing that a terminal would obey."""

import sys

import pytest

from ctxgc.cli._output import NARROW, Table, _needed, printable, shorten, show, when

from .conftest import child


@pytest.mark.parametrize(
    "argv",
    [
        ("profile",),
        ("recall",),
        ("sessions",),
        ("audit",),
        ("audit", "verify"),
        ("audit", "show"),
        ("audit", "export"),
        ("config",),
        ("config", "show"),
        ("config", "init"),
    ],
)
def test_every_command_has_help(run, argv):
    ran = run(*argv, "--help")
    assert ran.code == 0
    assert "Usage:" in ran.text
    if len(argv) == 1:
        assert "Examples:" in ran.text


def test_help_imports_neither_rich_nor_pydantic_nor_the_store():
    code = (
        "import sys\nfrom ctxgc.cli import main\nsys.argv = ['ctxgc', 'profile', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('rich', 'pydantic', 'apsw', 'tiktoken', 'msgspec') if name in sys.modules])"
    )
    out, err = child(code).communicate()
    assert (out.splitlines()[-1], err) == (b"[]", b"")


def test_a_pipe_gets_aligned_plain_text(capsys):
    show(Table("Title", ("<name", ">tokens"), [("a", "1"), ("long name", "1,000")]))
    assert capsys.readouterr().out == "Title\n  name       tokens\n  a               1\n  long name   1,000\n"


def test_an_empty_table_has_its_header(capsys):
    show(Table("Title", ("<name",), []))
    assert capsys.readouterr().out == "Title\n  name\n"


def test_a_terminal_gets_a_table_without_markup_from_data(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    show(Table("Title", ("<name", ">n"), [("[bold]x[/bold]", "1")]))
    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_what_does_not_print_is_marked():
    assert printable("a\x1b[1m\nb\x00é") == "a\ufffd[1m b\ufffdé"


def test_long_names_keep_both_ends():
    assert shorten("a" * 50 + "b" * 50, 21) == "a" * 13 + "…" + "b" * 7


@pytest.mark.parametrize(("at", "said"), [(0.0, "1970-01-01T00:00:00.000Z"), (1e30, "-"), (float("nan"), "-")])
def test_times_are_utc(at, said):
    assert when(at) == said


def test_a_title_on_a_terminal_is_nothing_that_it_would_obey(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    show(Table("Facts of a\x1b]0;b\x07\nc", ("<name",), [("x" * 60,)]))
    assert "Facts of a\ufffd]0;b\ufffd c" in capsys.readouterr().out


@pytest.mark.parametrize("error", ["BrokenPipeError", "OSError"])
def test_a_reader_that_leaves_is_no_failure_and_any_other_error_of_the_output_is(error):
    code = (
        "import sys\nfrom ctxgc.cli import _output, main\n"
        f"def say(text=''):\n    raise {error}(32 if '{error}' == 'BrokenPipeError' else 28, 'told so')\n"
        "_output.say = say\nsys.argv = ['ctxgc', 'config', 'show']\nmain()"
    )
    process = child(code)
    _, err = process.communicate()
    assert (process.returncode, err) == (
        (0, b"") if error == "BrokenPipeError" else (4, b"ctxgc: cannot write the output: told so\n")
    )


def test_a_table_is_as_wide_as_its_figures_and_its_text_may_be_wrapped() -> None:
    rows = [["a" * 60, "1,234,567"], ["b", "7"]]
    assert _needed(Table("t", ("<name", ">tokens"), rows), rows) == NARROW + len("1,234,567") + 4
