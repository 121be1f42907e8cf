"""What an asker gives back is journalled, so it is made plain first: whatever an application's own one gives."""

from __future__ import annotations

from typing import Any

import pytest

from ctxgc.core.journal import decode, encode
from ctxgc.summarise import Said, summarise
from ctxgc.summarise.asking import plain
from tests.summarise.test_job import job

ODD: dict[str, Any] = {
    "nothing": None,
    "a text": "{}",
    "no model": Said("{}", "stop", model=None),  # type: ignore[arg-type]
    "a number for a model": Said("{}", "stop", model=7),  # type: ignore[arg-type]
    "half a character": Said("{}", "\ud800", model="\ud800", error="\ud800"),
    "no count": Said("{}", "stop", input=None),  # type: ignore[arg-type]
    "half a token": Said("{}", "stop", input=1.5),  # type: ignore[arg-type]
    "tokens without end": Said("{}", "stop", input=10**30, output=-5),
    "an error of bytes": Said("", "error", error=b"no"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", ODD)
def test_whatever_an_asker_gives_the_journal_reads_back(what: str) -> None:
    (found,) = summarise(job(), lambda _ask: ODD[what])
    assert found.outcome.startswith("refused")
    assert decode(encode(found)) == found


def test_control_what_is_not_made_plain_cannot_be_read_back() -> None:
    (found,) = summarise(job(), lambda _ask: ODD["a number for a model"])
    with pytest.raises(Exception, match="Expected `str`"):
        decode(encode(type(found)(**{**{name: getattr(found, name) for name in found.__struct_fields__}, "model": 7})))


def test_what_others_named_is_short_and_on_one_line() -> None:
    said = plain(Said("t" * 1000, "stop", model="m\n" * 10_000_000, error="e\n" * 10_000_000))
    assert said.text == "t" * 1000
    assert "\n" not in said.model + said.error
    assert (len(said.model) <= 200, len(said.error) <= 300) == (True, True)


def test_an_asker_that_exits_is_an_answer_with_an_error() -> None:
    def exits(_ask: object) -> Said:
        raise SystemExit(3)

    (found,) = summarise(job(), exits)
    assert found.outcome == "refused: no answer: SystemExit"
