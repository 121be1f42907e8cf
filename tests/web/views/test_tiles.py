"""Tiles: figures that can be trusted, each with what it is about, and below zero where that is the truth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxgc.core.journal import Settlement
from ctxgc.lab.glance import turns_left
from ctxgc.web.views.reports import Reports
from ctxgc.web.views.tiles import Told, tiles
from tests.web.views import shapes
from tests.web.views.journals import PRICE, journals, moments, view_of

IDS = (
    *("context_now", "window_left", "turns_left", "received", "sent", "reduction"),
    *("net", "rewritten", "recalled", "billed", "estimate_error", "cache_hits"),
)
TOLD = Told(3, 3, (100, 150, 200), 1000, 750, 450, 300, -0.5, True, 40, 2, 80, Reports(lambda _: None))


def tile(told: Told, name: str) -> dict:
    return next(one for one in tiles(told) if one["id"] == name)


def test_all_tiles_are_there_and_say_what_they_are_about() -> None:
    found = shapes.typed(view_of(journals()["collected"]).summary(), shapes.Summary).tiles
    assert tuple(one.id for one in found) == IDS
    assert all(one.says and one.window and one.source for one in found)


def test_tiles_of_a_session_without_requests_know_nothing() -> None:
    found = shapes.typed(view_of(()).summary(), shapes.Summary).tiles
    known = {one.id: one.value for one in found if one.value is not None}
    assert known == {"received": 0, "sent": 0, "rewritten": 0, "recalled": 0}
    assert {one.tone for one in found} == {"plain"}


def test_turns_left_is_the_room_to_where_room_is_made_by_mean_growth() -> None:
    found = tile(TOLD, "turns_left")
    assert found["value"] == turns_left(TOLD.sizes, TOLD.high) == (750 - 200) / 50
    assert found["says"] == "Requests until room must be made, at the mean growth of these."


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sizes": (200, 150, 150)}, "The context has not grown in the last 2 requests."),
        ({"window": 0, "high": 0}, "The model's window is not known."),
        ({"sizes": (200,)}, "Growth takes two requests to measure."),
    ],
)
def test_turns_left_that_are_not_known_say_why(change: dict, says: str) -> None:
    found = tile(replace(TOLD, **change), "turns_left")
    assert (found["value"], found["says"]) == (None, says)


def test_a_collection_on_the_way_leaves_the_turns_known() -> None:
    """The context fell in between: it grows towards the window all the same."""
    assert tile(replace(TOLD, sizes=(100, 200, 50, 100)), "turns_left")["value"] == (750 - 100) / 50


def test_what_a_tile_says_is_one_short_sentence() -> None:
    said = [str(one["says"]) for one in tiles(TOLD)]
    assert all(len(text) <= 100 and text.endswith(".") and ". " not in text for text in said)


def test_a_loss_is_shown_as_one() -> None:
    assert (tile(TOLD, "net")["value"], tile(TOLD, "net")["tone"]) == (-0.5, "bad")
    more = replace(TOLD, sent=900)
    assert (tile(more, "reduction")["value"], tile(more, "reduction")["tone"]) == (-1.0, "bad")
    assert tile(replace(TOLD, net=0.5), "net")["tone"] == "good"


def test_amounts_without_prices_are_not_called_dollars() -> None:
    assert tile(replace(TOLD, usd=False), "net")["unit"] == "price"
    assert "one input token" in str(tile(replace(TOLD, usd=False), "net")["says"])


@pytest.mark.parametrize("name", ["collected", "compacted", "wild1"])
def test_figures_are_those_of_the_journal(name: str) -> None:
    entries = journals()[name]
    summary = shapes.typed(view_of(entries).summary(), shapes.Summary)
    value = {one.id: one.value for one in summary.tiles}
    paces = [one.entry.pace for one in moments(entries) if one.entry.pace]
    assert value["net"] == paces[-1].untouched - paces[-1].paid
    assert value["rewritten"] == sum(pace.live for pace in paces if pace.trigger)
    assert value["received"] == sum(summary.turns.received_total)
    assert value["sent"] == sum(summary.turns.sent_total)
    assert value["reduction"] == pytest.approx(1 - value["sent"] / value["received"])


def test_what_was_billed_is_the_providers_and_its_cache_is_its_own() -> None:
    entries = journals()["collected"]
    summary = shapes.typed(view_of(entries).summary(), shapes.Summary)
    tiles_ = {one.id: one for one in summary.tiles}
    usages = [one.usage for one in entries if isinstance(one, Settlement) and one.usage]
    usd = sum(
        PRICE.cost(uncached=one.uncached, cached=one.cached, written=one.written, output=one.output) for one in usages
    )
    # The settlements of this journal name no model, and so have no price: tokens are shown.
    assert tiles_["billed"].unit == "tokens"
    assert tiles_["billed"].value == sum(one.input + one.output for one in usages)
    hits = sum(one.cached for one in usages) / sum(one.input for one in usages)
    assert tiles_["cache_hits"].value == pytest.approx(hits)
    assert "not credited" in tiles_["cache_hits"].says
    priced = Reports(lambda _: PRICE)
    for entry in entries:
        if isinstance(entry, Settlement):
            priced.take(entry)
    assert priced.usd == pytest.approx(usd)
