"""``ctxgc recall``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import codec_of, journal, opened, store_option
from ctxgc.cli._ledgers import find_voucher

if TYPE_CHECKING:
    from ctxgc.store import Store

_LINES = re.compile(r"(\d+)?([:-])?(\d+)?\Z")
_FORMS = "give 10:20 or 10-20, 10: (to the end), :20 (from the start) or 10"


class Lines(click.ParamType[tuple[int, int | None]]):
    """A range of lines, counted from 1, both ends included."""

    name = "A:B"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int | None]:
        """From ``10:20``, ``10:``, ``:20`` or ``10``; pointers into vouchers have ``-`` for the colon."""
        found = _LINES.match(str(value))
        if found is None or not (found[1] or (found[3] and found[2] == ":")):
            self.fail(f"{value!r} is no range of lines: {_FORMS}", param, ctx)
        first = int(found[1] or 1)
        last = int(found[3]) if found[3] else None if found[2] else first
        if first < 1 or (last is not None and last < first):
            self.fail(f"{value!r} is no range of lines: {_FORMS}", param, ctx)
        return first, last


@click.command()
@click.argument("handle")
@click.option("--lines", type=Lines(), help="Only these lines, counted from 1: 10:20, 10-20, 10:, :20 or 10.")
@store_option
def command(handle: str, lines: tuple[int, int | None] | None, store: str | None) -> None:
    """Read back what a stub stands for: the exact bytes, on stdout.

    HANDLE is the 16 characters after "ctxgc:" in a stub; a whole stub will do. So will the handle of a voucher that a
    ledger keeps. The proxy may go on running.

    \b
    Examples:
      ctxgc recall k3v7qzsx2mhd4ayb
      ctxgc recall '[ctxgc:k3v7qzsx2mhd4ayb lines 41-960 of 1000 not shown]' --lines 41:80

    \b
    Exit codes: 0 ok, 2 usage, 4 no such content or store.
    """
    from ctxgc.session.originals import lines as cut
    from ctxgc.session.reading import END, bare

    content = _content(bare(handle.strip().lstrip("[")), store)
    if lines is not None:
        # Bytes that are no UTF-8 go through as they are: a voucher may hold any.
        text = cut(content.decode("utf-8", "surrogateescape"), lines[0], lines[1] or END)
        content = text.encode("utf-8", "surrogateescape")
    with click.open_file("-", "wb") as out:
        out.write(content)


def _content(handle: str, url: str | None) -> bytes:
    from ctxgc.errors import UnknownHandle

    with opened(url) as store:
        found = store.resolve(handle)
        if found is not None:
            return _taken_out(store, *found)
        voucher = find_voucher(store, handle)
        if voucher is None:
            raise UnknownHandle(f"no content in this store has the handle {handle!r}: is it the right store?")
        return voucher[1]


def _taken_out(store: Store, key: bytes, cell: int) -> bytes:
    """What stood in a cell of a session."""
    from ctxgc.core.state import State
    from ctxgc.errors import InputError
    from ctxgc.session.originals import content

    state = State()
    for _, entry in journal(store, key):
        state.apply(entry)
    if state.opened is None or cell >= len(state.cells):
        raise InputError(f"the journal of session {key.hex()[:12]} does not hold that cell: run `ctxgc audit verify`")
    return content(state, store, codec_of(state.opened.codec), cell).encode("utf-8", "surrogatepass")
