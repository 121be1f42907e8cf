"""Verifiers: the deterministic means by which a host finds a statement borne out by a voucher.

Rule: a verifier returns the bytes it saw or raises; it believes nothing that a text says of itself, and the same
voucher (and, for those that read it, the same live file) always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn, Protocol, runtime_checkable

from ctxgc.core.bookings import Artifact
from ctxgc.errors import NotVerified
from ctxgc.ledger import _json_values, _numbers, _quoting, files, wording

Span = tuple[int, int]
"""Bytes of a voucher: the first one, and the one behind the last."""


@dataclass(frozen=True, slots=True)
class Voucher:
    """What a verifier looks at: the entry of a voucher, its exact bytes, and where relative refs start."""

    artifact: Artifact
    content: bytes
    root: str = ""

    @property
    def whole(self) -> Span:
        """All of it."""
        return 0, len(self.content)


@runtime_checkable
class Verifier(Protocol):
    """A callable with a name and a version. ``asked`` is what it was asked, as canonical JSON, for the record."""

    @property
    def name(self) -> str:
        """Which verifier this is, such as ``quotes``."""

    @property
    def version(self) -> str:
        """Changes whenever the same voucher could get another answer."""

    @property
    def asked(self) -> str:
        """What is expected, as canonical JSON."""

    def __call__(self, voucher: Voucher) -> Span:
        """The bytes that bear out what is expected. Raises ``NotVerified``."""


@dataclass(frozen=True, slots=True)
class Check:
    """A verifier made of a function, which returns the bytes that it saw (None: all of them)."""

    name: str
    version: str
    asked: str
    look: Callable[[Voucher], Span | None]

    def __call__(self, voucher: Voucher) -> Span:
        """See `Verifier`."""
        return self.look(voucher) or voucher.whole


def verifier(name: str, version: str = "1", **asked: object) -> Callable[[Callable[[Voucher], Span | None]], Check]:
    """Make a verifier of a function of one's own: it returns the bytes it saw (None: all), or raises ``NotVerified``.

    ``asked`` is what it is asked, for the record: values that JSON has.
    """
    return lambda look: Check(name, version, wording.asked(**asked), look)


def file_exists(path: str | None = None) -> Check:
    """The live file at ``path`` exists; without one, the file that the voucher's ``ref`` names."""

    def look(voucher: Voucher) -> None:
        ref = voucher.artifact.ref if path is None else path
        if not files.exists(ref, voucher.root):
            fail(f"a file at {wording.shown(ref)}", "there is none")

    return Check("file_exists", "1", wording.asked(path=path), look)


def reads_back() -> Check:
    """The live file that the voucher's ``ref`` names has exactly the voucher's bytes."""

    def look(voucher: Voucher) -> None:
        ref = wording.shown(voucher.artifact.ref)
        live = files.read(voucher.artifact.ref, voucher.root)
        if live.fault:
            fail(f"the file {ref} to read back equal", f"it {live.fault}")
        if live.content != voucher.content:
            sizes = f"{len(voucher.content)} bytes are kept and {len(live.content)} stand there"
            fail(f"the file {ref} to read back equal", f"it differs ({sizes})")

    return Check("reads_back", "1", wording.asked(), look)


def quotes(text: str) -> Check:
    """``text`` stands in the voucher: byte for byte, else with any run of white space taken for any other.

    It must not begin or end within a word or a number: ``0 failed`` does not stand in ``10 failed``.
    """

    def look(voucher: Voucher) -> Span | None:
        found = _quoting.find(voucher.content, text)
        if found is None:
            fail(f"{wording.shown(text)} in {_name(voucher)}", f"it is not in its {len(voucher.content)} bytes")
        return found

    return Check("quotes", "1", wording.asked(text=text), look)


def number_equals(value: int | float | str | Decimal, near: str = "") -> Check:
    """A number on a line of the voucher that holds ``near`` equals ``value``, exactly; the line is what was seen.

    ``1,234,567.5`` is one number; so are numbers grouped by apostrophes, underscores and narrow or fixed spaces, and
    ``1e3``. ``1.2.3``, ``0x1f``, ``3f2a`` and ``EUR1,234`` hold none. A unit behind a number is not looked at. Where a
    line holds several numbers, the one nearest to ``near`` counts: in ``12 passed, 3 failed`` that is 3 for ``failed``.
    Without ``near`` any number will do. A float means the shortest decimal that reads back as it.
    Raises ``ValueError`` for a ``value`` that is no finite number.
    """
    expected = _numbers.exact(value)

    def look(voucher: Voucher) -> Span | None:
        found, seen = _numbers.find(voucher.content, expected, near)
        if found is None:
            place = f" on a line with {wording.shown(near)}" if near else ""
            fail(f"the number {wording.shown(str(value))}{place} in {_name(voucher)}", seen)
        return found

    return Check("number_equals", "2", wording.asked(value=expected, near=near), look)


def json_path_equals(path: str, value: object) -> Check:
    """The JSON value at ``path`` of the voucher equals ``value``; its bytes are what was seen.

    ``path`` is keys and indices from 0: ``a.b[0].c`` or ``a.b.0.c``, ``a["key with. dots"]``, and empty for all of it.
    Numbers are compared as decimals, exactly; ``true`` is not 1. JSON that names a key twice says nothing. Raises
    ``ValueError`` for a path that cannot be read, and for a value that no JSON has or that is nested too deeply.
    """
    steps = _json_values.steps(path)
    asked = _json_values.asked(path, value)

    def look(voucher: Voucher) -> Span | None:
        span, seen = _json_values.find(voucher.content, steps, value)
        if span is None:
            expected = wording.shown(wording.value(value))
            fail(f"{expected} at {wording.shown(path)} in {_name(voucher)}", seen)
        return span

    return Check("json_path_equals", "1", asked, look)


def exit_status(expected: int = 0) -> Check:
    """The command whose output the voucher is has ended with this status."""

    def look(voucher: Voucher) -> None:
        found = voucher.artifact.exit_status
        if found is None or found != expected:
            seen = "none is recorded" if found is None else f"it is {found}"
            fail(f"exit status {expected} of {_name(voucher)}", seen)

    return Check("exit_status", "1", wording.asked(expected=expected), look)


def fail(expected: str, found: str) -> NoReturn:
    """Raise the ``NotVerified`` that says what was expected and what was found."""
    raise NotVerified(f"expected {expected}: {found}")


def _name(voucher: Voucher) -> str:
    return f"voucher {voucher.artifact.id} ({wording.shown(voucher.artifact.ref)})"
