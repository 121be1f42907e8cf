"""The provider's cache and the bill: what collectors are known to make dearer does not become dearer here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise, takewhile

import pytest

from ctxgc.core.journal import Allocation
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.policies import preset
from tests.session.growing import Growing
from tests.session.lookalikes.players import (
    LOG,
    History,
    clear_but_last,
    collected,
    naive,
    ours,
    rewrites,
    told,
)
from tests.session.scripts import Known, body, exchange, fresh, kit, memory, restored, send, system, user

WARM = Tariff(least=0)
LONG = [system(), user(), *(one for n in range(40) for one in exchange(n, LOG[:4000] + str(n)))]


def costs(sent: Sequence[History], tariff: Tariff = WARM) -> list[float]:
    """What these requests have cost up to each, with a prefix cache of whole messages, by characters."""
    bills: list[float] = [0.0]
    before: list[str] = []
    for one in sent:
        texts = [json.dumps(message) for message in one]
        read = sum(
            len(text) for text, _ in takewhile(lambda pair: pair[0] == pair[1], zip(texts, before, strict=False))
        )
        bills.append(bills[-1] + read * tariff.read + (sum(map(len, texts)) - read) * tariff.write)
        before = texts
    return bills[1:]


def worst(sent: Sequence[History], histories: Sequence[History]) -> float:
    """The most that was ever paid, as a multiple of what doing nothing would have cost until then."""
    return max(paid / untouched for paid, untouched in zip(costs(sent), costs(histories), strict=True))


def test_it_never_costs_much_more_than_doing_nothing_at_any_point_of_a_session() -> None:
    histories = told(LONG, idle=4)
    assert worst(ours(histories, tariff=WARM), histories) <= 1.08
    assert worst(naive(clear_but_last(3))(histories), histories) > 1.2


def test_a_long_session_becomes_cheaper() -> None:
    histories = told(LONG, idle=40)
    assert costs(ours(histories, tariff=WARM))[-1] < 0.9 * costs(histories)[-1]


def test_the_prefix_is_rewritten_seldom_and_not_at_every_turn() -> None:
    histories = told(LONG)
    sent = ours(histories, tariff=WARM)
    assert collected(sent)
    assert len(rewrites(sent)) < len(sent) / 5
    assert len(rewrites(naive(clear_but_last(3))(histories))) > len(sent) / 2


def test_nothing_is_taken_back_that_was_collected() -> None:
    """A boundary that moves, or a text that comes again, would break the prefix once more."""
    sent = ours(told(LONG), tariff=WARM)
    sizes = [[len(str(one["content"])) for one in request] for request in sent]
    for before, after in pairwise(sizes):
        assert all(later <= earlier for earlier, later in zip(before, after, strict=False))


def test_a_history_that_did_not_change_is_sent_as_it_was_however_often() -> None:
    with memory() as store:
        session = fresh(kit(store, preset("generational"), tariff=lambda _: WARM))
        for one in told(LONG[:30]):
            send(session, body(one))
        again = [send(session, body(one)).body for _ in range(6)]
    assert len(set(again)) == 1


def test_no_message_tool_or_field_is_added() -> None:
    histories = told(LONG[:20])
    with memory() as store:
        session = fresh(kit(store, preset("generational")))
        for one in histories:
            came = body(one)
            left = json.loads(send(session, came).body)
            assert {**left, "messages": 0} == {**json.loads(came), "messages": 0}
            assert [each["role"] for each in left["messages"]] == [each["role"] for each in one]


def test_cache_markers_stay_on_their_messages_and_in_their_order() -> None:
    marks = [{"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}]
    story = [{**system(), "cache_control": marks[0]}, user(), *exchange(1, LOG)]
    story[3] = {**story[3], "cache_control": marks[1]}
    sent = ours(told(story))
    assert collected(sent)
    assert [one.get("cache_control") for one in sent[-1][:4]] == [marks[0], None, None, marks[1]]

    def bare(history: History) -> History:
        return [{"role": one["role"], "content": one["content"]} for one in history]

    assert [one.get("cache_control") for one in naive(bare)(told(story))[-1][:4]] != [marks[0], None, None, marks[1]]


@pytest.mark.parametrize("at", [3, 12, 30])
def test_a_restart_rewrites_nothing(at: int) -> None:
    histories = told(LONG)
    with memory() as one, memory() as other:
        runs = []
        for store, stop in ((one, -1), (other, at)):
            session = fresh(kit(Known(store), preset("generational"), tariff=lambda _: WARM))
            sent = []
            for number, each in enumerate(histories):
                if number == stop:
                    session.flush()
                    session = restored(
                        kit(Known(store), preset("generational"), tariff=lambda _: WARM, new_id=Ids(number))
                    )
                sent.append(send(session, body(each)).body)
            runs.append(sent)
    assert runs[0] == runs[1]


class Ids:
    """Ids of calls that no process before this one has used."""

    def __init__(self, start: int) -> None:
        self.number = 1000 * (start + 1)

    def __call__(self) -> bytes:
        self.number += 1
        return self.number.to_bytes(16, "big")


def test_while_the_cache_is_cold_what_is_due_goes_at_once_and_only_then() -> None:
    clock = [0.0]
    with memory() as store:
        found = Growing(
            kit(
                store,
                preset("generational"),
                tariff=lambda _: Tariff(read=0.001, write=9.0, least=0),
                clock=lambda: clock[0],
            )
        )
        found.say(LOG)
        found.turns(16)
        assert found.collections() == []
        clock[0] = 3600.0
        found.turns(1)
        assert [one.pace.trigger for one in found.entries() if isinstance(one, Allocation) and one.pace][-1] == "cold"
        assert len(found.collections()) == 1


def test_every_collection_says_what_it_was_to_cost_and_to_save() -> None:
    with memory() as store:
        found = Growing(kit(store, preset("generational"), tariff=lambda _: WARM, pacer=Pacer(patience=0.2)))
        for number in range(60):
            found.say(LOG + str(number))
        paces = [one.pace for one in found.entries() if isinstance(one, Allocation) and one.pace and one.pace.trigger]
    assert paces
    for pace in paces:
        assert pace.dead > 0
        assert pace.rent >= 0.2 * pace.price
    assert paces[-1].paid < paces[-1].untouched


# Sizes


def tokens(messages: History, **fields: object) -> int:
    with memory() as store:
        session = fresh(kit(store, ()))
        send(session, body(messages, **fields))
        return session.state.tokens(len(session.state.nodes) - 1, -1 if fields.get("tools") == [] else 0, sent=True)


def test_scripts_without_spaces_are_counted_as_they_are_read() -> None:
    text = "部署前请勿删除表" * 125
    assert tokens([user(text)], tools=[]) > 1.5 * len(text) / 4


def test_an_image_counts_by_its_size_and_not_by_its_base64() -> None:
    url = "data:image/png;base64," + "A" * 400_000
    image = user([{"type": "image_url", "image_url": {"url": url}}])
    assert 50 < tokens([image], tools=[]) < 5000 < len(url) / 4


def test_tools_count_too() -> None:
    schema = {"type": "function", "function": {"name": "x", "description": "does a thing " * 900, "parameters": {}}}
    assert tokens([user("hi")], tools=[schema]) > 2000 + tokens([user("hi")], tools=[])


def test_results_in_parts_and_as_json_count_too() -> None:
    parts = [{"type": "text", "text": json.dumps({"rows": list(range(500))})}]
    assert tokens([user("hi"), *exchange(1, parts)], tools=[]) > 500
