"""What code can tell of a span, and how a model's items are put beside it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.block import Author, Kind
from ctxgc.core.compaction import Item
from ctxgc.core.record import Original, Record, Request, deterministic, standing, still_open, with_items
from tests.core.originals import agent, call, original, result, user
from tests.strategies import broken_texts, texts


def opened(*span: Original, running: bool = False) -> list[tuple[str, bool]]:
    return [(one.text, one.open) for one in deterministic(span, running=running).requests]


REPORT = (user(0, "/skill build-report Q1"), agent(1, "…done"))
BUG = (user(2, "now fix bug 7", 1), call(3, "grep", "{}", 2), result(4, "grep", "{}", "12 hits", 2))


def test_a_request_that_was_answered_is_closed_and_the_one_in_work_is_open() -> None:
    assert opened(*REPORT, *BUG, running=True) == [("/skill build-report Q1", False), ("now fix bug 7", True)]


def test_without_looking_at_answers_a_closed_request_would_be_done_again() -> None:
    everything = [(one.text, True) for one in (*REPORT, *BUG) if one.author is Author.USER]
    assert opened(*REPORT, *BUG, running=True) != everything


def test_a_message_that_calls_a_tool_answers_nothing_whatever_it_says() -> None:
    working = (agent(1, "Let me look", node=1), call(2, "ls", "{}", node=1), result(3, "ls", "{}", "a"))
    assert opened(user(0, "go"), *working) == [("go", True)]
    assert opened(user(0, "go"), *working, agent(4, "done", 2)) == [("go", False)]


def test_an_interrupted_request_stays_open() -> None:
    assert opened(user(0, "a"), call(1, "ls", "{}"), user(2, "b", 1), agent(3, "b is done", 2)) == [
        ("a", True),
        ("b", False),
    ]


def test_an_interrupted_request_that_a_later_answer_may_have_answered_says_so() -> None:
    made = deterministic(
        [user(0, "a"), call(1, "ls", "{}"), user(2, "b", 1), agent(3, "done", 2), user(4, "c", 2)], running=True
    )
    assert [(one.text, one.open, one.overtaken) for one in made.requests] == [
        ("a", True, True),
        ("b", False, False),
        ("c", True, False),
    ]


def test_what_a_user_says_in_one_go_is_answered_together() -> None:
    assert opened(user(0, "a"), user(1, "b"), agent(2, "both")) == [("a", False), ("b", False)]


def test_the_last_request_of_a_running_one_is_open_even_behind_an_answer() -> None:
    assert opened(user(0, "a"), agent(1, "a first word"), running=True) == [("a", True)]


def test_thinking_and_blank_text_answer_nothing() -> None:
    thought = original(1, Kind.THINKING, Author.AGENT, "hm", 1)
    assert opened(user(0, "a"), thought, agent(2, " \n")) == [("a", True)]


def test_a_picture_is_a_request_that_can_be_read_back() -> None:
    picture = original(0, Kind.IMAGE, Author.USER, "", 0)
    assert deterministic([picture], running=True).requests == (Request(0, "h0", "(image)", True),)


def test_without_nodes_messages_are_told_by_their_turns() -> None:
    span = (user(0, "a", node=-1), agent(1, "look", node=-1), call(2, "ls", "{}", node=-1))
    assert opened(*span) == [("a", True)]


def test_tools_are_counted_with_their_failures() -> None:
    span = [
        call(0, "bash", "{}"),
        result(1, "bash", "{}", "error: no such file"),
        call(2, "bash", "{}", 2),
        result(3, "bash", "{}", "fine", 2),
        call(4, "ask", "{}", 3),
        call(5, "web", "{}", 1),
        result(6, "web", "{}", "well", 1, failed=True),
    ]
    record = deterministic(span, running=False)
    assert [(one.tool, one.calls, one.failed, one.last_turn, one.handle) for one in record.tools] == [
        ("web", 1, 1, 1, "h6"),
        ("bash", 2, 1, 2, "h3"),
        ("ask", 1, 0, 3, ""),
    ]


def test_files_are_counted_and_failed_calls_touch_none() -> None:
    path = '{"file_path": "/w/a.py"}'
    span = [
        result(0, "Read", path, "x = 1"),
        result(1, "Write", path.replace("a.py", "b.py"), "written", 2),
        result(2, "Edit", path, "edited", 3),
        result(3, "Write", path.replace("a.py", "c.py"), "Permission denied", 4),
        result(4, "bash", '{"command": "unknown-tool $X"}', "ok", 4),
    ]
    found = deterministic(span, running=False).files
    assert [(one.path, one.reads, one.writes, one.last_turn, one.handle) for one in found] == [
        ("/w/b.py", 0, 1, 2, "h1"),
        ("/w/a.py", 1, 1, 3, "h2"),
    ]


def test_pins_handles_and_sizes() -> None:
    record = deterministic([user(5, "never push", pinned=True), agent(6, "ok", 3)], running=False, tokens=70)
    assert (record.pinned, dict(record.handles), record.turns) == (
        (5,),
        {5: "h5", 6: "h6"},
        (0, 3),
    )
    assert (record.cells, record.tokens) == (2, 70)
    assert record.requests[0].pinned


def test_an_empty_span_is_an_empty_record() -> None:
    assert deterministic([], running=True) == Record()


TODO, FACT = Item("open_items", "do x", 3), Item("facts", "x is 4", 3, "x = 4", True)


def test_items_keep_their_numbers() -> None:
    record = with_items(with_items(Record(), [FACT, TODO]), [FACT, Item("open_items", "do y", 4)], [1])
    assert [number for number, _ in standing(record)] == [0, 3]
    assert still_open(record) == ((3, "do y"),)
    assert len(record.items) == 4


def test_only_open_items_are_resolved_and_a_number_too_high_is_nothing() -> None:
    assert [item for _, item in standing(with_items(Record(), [FACT], [0, 7, -1]))] == [FACT]


def test_a_duplicate_is_resolved_with_what_it_repeats() -> None:
    assert still_open(with_items(Record(), [TODO, TODO], [1])) == ()


def test_of_duplicates_the_one_that_became_a_fact_is_shown() -> None:
    posted = Item("facts", "x is 4", 3, "x = 4", True, "F2")
    assert standing(with_items(Record(), [FACT, posted])) == ((1, posted),)


@given(
    st.lists(st.tuples(st.sampled_from(list(Kind)), st.sampled_from(list(Author)), st.one_of(texts(), broken_texts())))
)
def test_any_span_has_a_record(blocks: list[tuple[Kind, Author, str]]) -> None:
    span = [original(at, kind, author, text, at, arguments=text) for at, (kind, author, text) in enumerate(blocks)]
    record = deterministic(span, running=True)
    assert record.cells == len(span)
    if record.requests:
        assert record.requests[-1].open
