"""A profile for people: a few sentences, then tables.

Rule: the sentences say what the figures mean and on which assumptions they stand; a count that is an estimate says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ctxgc.cli._output import Table, printable, say, show
from ctxgc.cli._profile_json import Profiled, rows_by
from ctxgc.cli._turns import many
from ctxgc.lab.carried import Request
from ctxgc.lab.costs import Cost
from ctxgc.lab.profile import Profile, Row
from ctxgc.lab.suspects import Schema

_ROWS = ("<{}", ">share", ">sent in all", ">fresh", ">resident", ">retained", ">cells")
_TURNS = (">request", ">received", ">sent", ">fresh", ">prefix", "<most of it")


def show_profile(one: Profiled, by: str | None, top: int) -> None:
    """Print a profile: all of it, or only the table asked for."""
    profile = one.profile
    for line in _summary(one):
        say(line)
    for table in _tables(profile, by, top):
        say()
        show(table)
    if by is None:
        say()
        _suspects(profile, top)
    say()


def _tables(profile: Profile, by: str | None, top: int) -> Iterator[Table]:
    if by == "turn":
        yield _turns(profile.requests, top)
    elif by is not None:
        yield _rows(profile, by, top)
    else:
        yield _rows(profile, "tag", top)
        yield _rows(profile, "site", top)
        if profile.schemas:
            yield _schemas(profile.schemas, top)


def _summary(one: Profiled) -> Iterator[str]:
    profile, total = one.profile, one.profile.total
    models = ", ".join(name or "no model" for name in profile.models) or "no model"
    notes = ["assumed: none is named"] if one.assumed else []
    notes += [] if profile.exact else ["tokens are estimates: its tokenizer is not public"]
    noted = f" ({'; '.join(notes)})" if notes else ""
    policy = f", policy {one.policy}" if one.policy else ""
    yield f"{profile.name}: {models}{noted}{policy}"
    requests, fresh = many(len(profile.requests), "request"), sum(one.fresh_sent for one in profile.requests)
    again = total.sent_turns - fresh
    yield (
        f"{requests} sent {total.sent_turns:,} tokens: {fresh:,} fresh and {again:,} again;"
        f" {total.resident:,} are in the newest"
    )
    if total.sent_turns != total.token_turns:
        saved = total.token_turns - total.sent_turns
        yield f"as they came they had {total.token_turns:,}: {saved:,} ({saved / total.token_turns:.1%}) were taken out"
    if profile.cost:
        yield from _cost(profile.cost)
    else:
        yield "cost: no price is known for this model; name another with --model"
    if profile.reported:
        seen = profile.reported
        usd = f", ${seen.usd:,.4f}" if seen.usd is not None else ""
        into = seen.uncached + seen.cached + seen.written
        calls = many(seen.calls, "call")
        yield f"reported: {calls}, {into:,} in ({seen.cached:,} from cache), {seen.output:,} out{usd}"
    for reason, count in profile.bypassed.items():
        yield f"{many(count, 'request')} went on without being looked at: {reason}"


def _cost(cost: Cost) -> Iterator[str]:
    came = f"; as it came ${cost.received_cached:,.4f} and ${cost.received_uncached:,.4f}"
    same = (cost.sent_cached, cost.sent_uncached) == (cost.received_cached, cost.received_uncached)
    many_of = f"{many(cost.unpriced, 'request')} of models without a price {'is' if cost.unpriced == 1 else 'are'}"
    unpriced = f"; {many_of} not in it" if cost.unpriced else ""
    yield (
        f"input costs ${cost.sent_cached:,.4f} with a prefix cache that never misses, ${cost.sent_uncached:,.4f}"
        f" without one{'' if same else came}{unpriced}"
    )


def _rows(profile: Profile, by: str, top: int) -> Table:
    rows, total = rows_by(profile, by), profile.total.sent_turns
    columns = tuple(column.format(by) for column in _ROWS)
    return Table(_title(f"By {by}", len(rows), top), columns, [_cells(row, total) for row in islice(rows, top)])


def _cells(row: Row, total: int) -> Sequence[str]:
    share = row.sent_turns / total if total else 0.0
    figures = (row.sent_turns, row.tokens, row.resident, row.retained, row.cells)
    return (row.name, f"{share:.1%}", *(f"{figure:,}" for figure in figures))


def _turns(requests: Sequence[Request], top: int) -> Table:
    """The last requests: the longest of a session, and what it came to."""
    rows = [
        (
            str(request.number),
            *(f"{figure:,}" for figure in (request.total, request.total_sent, request.fresh, request.prefix)),
            max(request.sent, key=lambda tag: request.sent[tag], default=""),
        )
        for request in requests[-top:]
    ]
    return Table(_title("By turn, the last", len(requests), top), _TURNS, rows)


def _schemas(schemas: Sequence[Schema], top: int) -> Table:
    rows = [(schema.name, f"{schema.tokens:,}", f"{schema.requests:,}", _called(schema)) for schema in schemas[:top]]
    return Table(_title("Tool schemas", len(schemas), top), ("<tool", ">tokens", ">requests", ">called"), rows)


def _called(schema: Schema) -> str:
    """How often a tool was called; the recall tool is for when the model needs it."""
    return f"{schema.calls:,}" if schema.calls else "not needed" if schema.ours else "never"


def _suspects(profile: Profile, top: int) -> None:
    say("Leak suspects" if profile.suspects else "No leak suspects")
    for number, suspect in enumerate(islice(profile.suspects, top), 1):
        say(f"  {number}. {printable(suspect.sentence)} {suspect.action}")
        for line in suspect.setting.splitlines():
            say(f"       {line}")


def _title(what: str, count: int, top: int) -> str:
    return f"{what} ({top} of {count})" if count > top else what
