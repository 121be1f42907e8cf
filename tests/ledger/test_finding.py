"""Facts found by words and by voucher, and followed to what they rest on."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from ctxgc.errors import LedgerError
from ctxgc.ledger import Ledger

from .helpers import fact, written


def found(ledger: Ledger, text: str, budget: int = 1000) -> list[str]:
    return [entry.id for entry in ledger.query(text, budget)]


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    for statement in ("The port of the proxy is 8080", "The port of the store is 5432", "The tests pass", "店は赤い"):
        fact(ledger, statement)
    return ledger


def test_rare_words_weigh_most_and_case_does_not_count(filled: Ledger):
    assert found(filled, "which PORT has the proxy?")[:2] == ["F1", "F2"]
    assert found(filled, "store")[0] == "F2"
    assert found(filled, "赤")[0] == "F4"
    assert found(filled, "nothing of that") == ["F2", "F1"]  # newest first where all else is equal
    assert found(filled, "") == found(filled, "zebra") == []


def test_only_current_facts_are_found(filled: Ledger):
    filled.claim("The proxy is down")
    filled.supersede("F1", "")
    assert "F1" not in found(filled, "proxy port")


def test_facts_are_found_by_voucher_and_ref(filled: Ledger, root: Path):
    artifact = written(filled, root, "report.md", "all is well")
    posted = filled.post("Well", [filled.verify(artifact, "all is well")])
    assert found(filled, artifact.id)[0] == found(filled, "report.md")[0] == found(filled, posted.id)[0] == posted.id


def test_no_more_is_found_than_the_budget_has_room_for(filled: Ledger):
    assert len(found(filled, "the port", 40)) < len(found(filled, "the port"))
    assert found(filled, "the port", 0) == []
    asked: list[str] = []
    assert filled.query("port", 100, lambda text: asked.append(text) or 60) == [filled.books.facts["F2"]]
    assert "5432" in asked[0]


def test_a_fact_is_followed_to_its_bytes(filled: Ledger, root: Path):
    artifact = written(filled, root, "a.txt", "one\ntwo\n")
    posted = filled.post("Two", [filled.verify(artifact, "two")])
    filled.close()
    filled.close()
    trace = filled.trace(posted)
    (source,) = trace.sources
    assert (source.slice, source.artifact) == (b"two", artifact)
    assert source.hash == artifact.hash
    assert source.slice_hash == f"sha256:{sha256(b'two').hexdigest()}"
    assert (trace.agree, trace.status, trace.period, trace.balances) == (True, "current", "P1", ("P1", "P2"))


def test_an_overturned_fact_can_still_be_followed(filled: Ledger):
    filled.close()
    filled.supersede("F1", "")
    filled.close()
    trace = filled.trace("F1")
    assert (trace.agree, trace.status, trace.balances) == (True, "superseded", ("P1",))
    assert filled.trace(fact(filled, "late")).period == ""


def test_a_claim_rests_on_nothing(filled: Ledger):
    trace = filled.trace(filled.claim("maybe"))
    assert (trace.agree, trace.status, trace.sources) == (False, "claim", ())
    with pytest.raises(LedgerError, match="no fact"):
        filled.trace("F99")
