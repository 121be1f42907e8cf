"""Evidence: what a verifier saw of a voucher, written down so that everybody can look at it again.

Rule: it is made from the voucher's bytes as the store has them, and looked at again before a fact is posted on it.
"""

from __future__ import annotations

from hashlib import sha256

from ctxgc.core.bookings import Artifact, Evidence
from ctxgc.errors import NotVerified
from ctxgc.ledger import wording
from ctxgc.ledger.verifiers import Span, Verifier, Voucher, quotes


def seen(voucher: Voucher, expected: Verifier | str) -> Evidence:
    """What a verifier sees of a voucher; a text is what `quotes` is to find. Raises ``NotVerified``."""
    verifier = quotes(expected) if isinstance(expected, str) else expected
    first, last = _span(voucher, verifier)
    found = made(voucher.artifact, voucher.content, first, last)
    if not (0 <= first <= last <= len(voucher.content)) or (first == last and voucher.content):
        raise NotVerified(f"expected {verifier.name} to see a part of {voucher.artifact.id}: it saw {first} to {last}")
    return Evidence(
        *found, wording.clean(verifier.name), wording.clean(verifier.version), wording.clean(verifier.asked)
    )


def made(artifact: Artifact, content: bytes, first: int, last: int) -> tuple[str, int, int, int, int, str]:
    """Voucher, bytes, lines (from 1, both included) and the hash of a slice: what evidence begins with."""
    line_first = content.count(b"\n", 0, first) + 1
    line_last = line_first + content.count(b"\n", first, max(first, last - 1))
    return artifact.id, first, last, line_first, line_last, f"sha256:{sha256(content[first:last]).hexdigest()}"


def disagreement(evidence: Evidence, artifact: Artifact, content: bytes) -> str:
    """How evidence disagrees with the bytes of its voucher, in plain words; empty where it does not."""
    if not 0 <= evidence.first <= evidence.last <= len(content):
        return f"bytes {evidence.first} to {evidence.last} of voucher {artifact.id} are not there"
    again = made(artifact, content, evidence.first, evidence.last)
    if again[5] != evidence.slice:
        return f"bytes {evidence.first} to {evidence.last} of voucher {artifact.id} have another hash"
    if again[3:5] != (evidence.line_first, evidence.line_last):
        return f"bytes {evidence.first} to {evidence.last} of voucher {artifact.id} stand in other lines"
    return ""


def _span(voucher: Voucher, verifier: Verifier) -> Span:
    try:
        first, last = verifier(voucher)
        return int(first), int(last)
    except NotVerified:
        raise
    except Exception as error:  # an application's verifier is foreign code, and no fact rests on one that fails
        why = wording.shown(f"{type(error).__name__}: {error}")
        raise NotVerified(f"expected an answer of the verifier {verifier.name}: it failed with {why}") from error
