"""What is lost or made up: what collectors are known to corrupt comes through, or can be had back, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from ctxgc.core import stub
from ctxgc.errors import UnknownHandle
from ctxgc.policies import preset
from ctxgc.session import Session
from tests.session.growing import FREE, LISTING, Growing
from tests.session.lookalikes.players import (
    LOG,
    History,
    clear_but_last,
    collected,
    invented,
    naive,
    numbers_only,
    ours,
    results,
    same_path,
    summarise,
    told,
)
from tests.session.scripts import agent, body, call, exchange, fresh, kit, memory, result, send, system, user

TASK = [system(), user("go")]
CODE = "".join(f"    value_{n} = compute(value_{n * 3 % 90}, other_{n})\n" for n in range(120))
GREP = "".join(f"src/mod_{n % 9}.py:{n * 7}:    raise LookupError(key_{n})\n" for n in range(300))
LS = "total 8\n" + "".join(f"-rw-r--r-- 1 u u {n * 37:5} May  1 10:0{n} file_{n}.txt\n" for n in range(3))
STATUS = "".join(f" M src/part_{n}.ts\n" for n in range(40))
ENUM = json.dumps({"role": {"enum": ["admin", "editor", "viewer", "guest", "owner", "bot", "audit", "none"]}})


def read(number: int, text: str, path: str = "/src/app.py", **more: int) -> History:
    asked = call(f"r{number}", "read_file", json.dumps({"path": path, **more}))
    return [agent(None, asked), result(f"r{number}", text)]


def grown(store: object, messages: Sequence[dict[str, object]] = ()) -> Growing:
    return Growing(kit(store, preset("generational"), tariff=lambda _: FREE), [*TASK, *messages])  # type: ignore[arg-type]


# Made up


@pytest.mark.parametrize("text", [GREP, LOG, CODE, LISTING])
def test_each_line_that_is_left_is_a_line_of_the_tool(text: str) -> None:
    histories = told([*TASK, *exchange(1, text)])
    sent = ours(histories)
    assert collected(sent)
    assert invented(histories, sent) == []
    assert invented(histories, naive(numbers_only)(histories)) != []


@pytest.mark.parametrize("text", [LS, ENUM, "3", "src/app.py", '{"ok": true}'])
def test_small_results_stay_as_they_came(text: str) -> None:
    histories = told([*TASK, *exchange(1, text)], idle=30)
    assert ours(histories)[-1][3]["content"] == text
    assert naive(clear_but_last(2))(histories)[-1][3]["content"] != text


@pytest.mark.parametrize("text", [STATUS, GREP])
def test_a_new_result_is_shown_whole_within_its_budget(text: str) -> None:
    histories = told([*TASK, *exchange(1, text)], idle=0)
    assert ours(histories)[-1][3]["content"] == text


def test_what_is_left_out_is_counted() -> None:
    """Where lines are missing it says how many, so that a part is not taken for the whole."""
    sent = ours(told([*TASK, *exchange(1, GREP)]))[-1][3]["content"]
    head, *lines = sent.split("\n")
    kept = sum(line in GREP.split("\n") for line in lines if line and line != "\u2026")
    assert f" {kept} of 300 lines kept" in head or " 300 lines not shown" in head


def test_no_mark_is_put_inside_the_json_of_calls_or_into_short_fields() -> None:
    rows = json.dumps([{"id": n, "name": f"item_{n}", "note": "fine"} for n in range(200)])
    sent = ours(told([*TASK, *exchange(1, rows)]))
    assert collected(sent)
    text = sent[-1][3]["content"].split("\n")
    assert all(json.loads("[" + line.strip("[], ") + "]") for line in text[1:] if line not in ("", "\u2026"))
    for one in sent[-1]:
        for asked in one.get("tool_calls", ()):
            json.loads(asked["function"]["arguments"])


def test_compacting_what_was_compacted_erases_nothing_more() -> None:
    with memory() as store:
        found = grown(store)
        at = found.say(GREP)
        found.turns(40)
        shown = found.sent[at]["content"]
        found.turns(20)
        assert found.sent[at]["content"] == shown
        assert len([one for entry in found.collections() for one in entry.edits]) <= 3


# Lost


def test_everything_that_came_is_in_sight_or_can_be_had_back() -> None:
    with memory() as store:
        found = grown(store)
        texts = [GREP, LOG, CODE, LISTING, LS, GREP + "x"]
        places = [found.say(text) for text in texts]
        found.turns(20)
        assert out_of_reach(found.session, texts, [found.sent[at]["content"] for at in places]) == []
        cleared = [naive(clear_but_last(1))([found.messages])[0][at]["content"] for at in places]
        assert out_of_reach(found.session, texts, cleared) == texts


def out_of_reach(session: Session, texts: Sequence[str], shown: Sequence[str]) -> list[str]:
    """The originals that are neither shown nor behind a handle that is."""
    return [
        text
        for text, now in zip(texts, shown, strict=True)
        if now != text and text not in [session.recall(handle) for handle in stub.handles(now)]
    ]


def test_what_is_stored_is_the_original_and_never_what_stood_for_it() -> None:
    """Collected twice, and once seen with an echo of a stub in it: what comes back is what came."""
    echo = stub.gap("a" * 16, "lines", 1, 2, 3) + "\n{{TAG_0}}\n" + GREP
    with memory() as store:
        found = grown(store)
        found.say(echo)
        found.turns(30)
        handles = {edit.handle for entry in found.collections() for edit in entry.edits}
        assert {found.session.recall(handle) for handle in handles} == {echo}


def test_signed_reasoning_stays_byte_for_byte() -> None:
    details = [{"type": "reasoning.text", "text": "thought " * 99, "signature": "c2ln"}]
    story = [*TASK, agent("so", reasoning="thought " * 99, reasoning_details=details), user("x"), *exchange(1, LOG)]
    sent = ours(told(story))
    assert sent[-1][2] == story[2]


def test_what_an_edit_quotes_is_there_when_it_is_made() -> None:
    """The file is read, other things are done, and the edit must quote it to the byte."""
    quote = CODE.split("\n")[60]
    edit = json.dumps({"path": "/src/app.py", "old_string": quote, "new_string": "    pass"})
    story = [*TASK, *read(1, CODE), *exchange(2, "ok"), agent(None, call("e", "edit_file", edit)), result("e", "ok")]
    histories = told(story, idle=0)
    sent, cleared = ours(histories), naive(clear_but_last(1))(histories)
    assert all(quote in one[3]["content"] for one in sent[1:])
    assert not all(quote in one[3]["content"] for one in cleared[1:])


def test_a_mark_never_ends_up_in_what_the_agent_writes() -> None:
    with memory() as store:
        found = grown(store)
        found.say(CODE, "read_file", {"path": "/a"})
        found.turns(20)
        written = json.dumps({"path": "/b", "content": CODE})
        found.say("ok", "write_file", written)
        assert found.sent[-2]["tool_calls"][0]["function"]["arguments"] == written


# The same, or not


def dangling(sent: History) -> list[str]:
    """Pointers to a result that is not shown."""
    shown = [text for text in results(sent) if stub.SIGIL not in text]
    return [text for text in results(sent) if "unchanged" in text and not shown]


def test_a_pointer_never_points_at_what_has_gone() -> None:
    with memory() as store:
        found = grown(store)
        for number in range(3):
            found.say(LISTING, "lookup", {"q": 1})
            assert dangling([one for one in found.sent if len(str(one.get("content"))) > 60]) == []
            found.turns(4 + 9 * number)
            assert dangling([one for one in found.sent if len(str(one.get("content"))) > 60]) == []


def test_control_a_pointer_to_nothing_is_seen() -> None:
    pointer = stub.pointer("a" * 16, "lookup")
    assert dangling([result("1", "[ctxgc:" + "b" * 16 + " 9 lines not shown]"), result("2", pointer)]) == [pointer]
    assert dangling([result("1", LISTING), result("2", pointer)]) == []


def test_what_was_collected_is_shown_whole_when_it_is_asked_for_again() -> None:
    """A pruned read is no reason to answer the next one with a pointer to it: that would be read again and again."""
    with memory() as store:
        found = grown(store)
        found.say(LISTING, "lookup", {"q": 1})
        found.turns(30)
        at = found.say(LISTING, "lookup", {"q": 1})
        assert found.sent[at]["content"] == LISTING


@pytest.mark.parametrize(
    "second",
    [read(2, CODE.replace("value", "worth"), offset=101, limit=100), read(2, CODE, path="/src/other.py")],
    ids=["another range", "another file"],
)
def test_what_is_not_the_same_supersedes_nothing(second: History) -> None:
    story = [*TASK, *read(1, CODE, offset=1, limit=100), *second]
    histories = told(story, idle=1)
    sent = ours(histories)
    assert [sent[-1][at]["content"] for at in (3, 5)] == [story[3]["content"], story[5]["content"]]
    if second[0]["tool_calls"][0]["function"]["arguments"].count("app.py"):
        assert "[superseded]" in list(results(naive(same_path)(histories)[-1]))


def test_a_read_behind_a_write_is_no_repetition() -> None:
    write = [
        agent(None, call("w", "write_file", json.dumps({"path": "/src/app.py", "content": "x"}))),
        result("w", "ok"),
    ]
    sent = ours(told([*TASK, *read(1, CODE), *write, *read(2, CODE + "x")], idle=1))
    assert sent[-1][7]["content"] == CODE + "x"


def test_an_acknowledgement_supersedes_no_read() -> None:
    sent = ours(told([*TASK, *read(1, CODE), *read(2, "File unchanged since last read, see above.")], idle=1))
    assert sent[-1][3]["content"] == CODE


# Others


def test_no_session_gets_a_pointer_to_what_another_has_seen() -> None:
    with memory() as store:
        used = kit(store, preset("generational"), tariff=lambda _: FREE)
        one, other = fresh(used), fresh(used, b"o" * 32)
        story = [*TASK, *exchange(1, LISTING)]
        send(one, body(story))
        assert json.loads(send(other, body(story)).body)["messages"][3]["content"] == LISTING


def test_no_session_opens_the_handles_of_another() -> None:
    with memory() as store:
        found = grown(store)
        found.say(LISTING)
        found.turns(16)
        handle = found.collections()[0].edits[0].handle
        other = fresh(found.used, b"o" * 32)
        send(other, body(found.messages[:4]))
        with pytest.raises(UnknownHandle):
            other.recall(handle)
        assert found.session.recall(handle) == LISTING


def test_no_rule_is_made_up_and_none_is_put_into_anybodys_mouth() -> None:
    histories = told([*TASK, *exchange(1, LOG), *exchange(2, GREP)])

    def said(history: History) -> list[object]:
        return [one for one in history if one["role"] != "tool"]

    assert [said(one) for one in ours(histories)] == [said(one) for one in histories]
    assert [said(one) for one in naive(summarise)(histories)] != [said(one) for one in histories]
