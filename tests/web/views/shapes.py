"""The page's documents as types: what the page and the server rely on."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

T = TypeVar("T")
Count = list[int]
Tone = Literal["good", "bad", "plain"]
Unit = Literal["tokens", "usd", "price", "ratio", "turns", "count"]
Lines = list[tuple[Literal[" ", "-", "+"], str]] | None


class Turns(msgspec.Struct):
    count: int
    at: list[float]
    model: Count
    received: dict[str, Count]
    sent: dict[str, Count]
    received_total: Count
    sent_total: Count
    fresh: Count
    fresh_sent: Count
    prefix_sent: Count
    reported: list[int | None]
    cached: list[int | None]
    output: list[int | None]
    outcome: list[str]
    again: list[Literal[0, 1]]
    net: list[float]


class Split(msgspec.Struct):
    read: int
    written: int


class Span(msgspec.Struct):
    first: int
    last: int
    handle: str
    by: str


class Collection(msgspec.Struct):
    turn: int
    at: float
    generation: str
    trigger: str
    cells: int
    before: int
    after: int
    context_before: int
    context_after: int
    rewritten: int
    rent: float
    price: float
    saving: float
    usd: bool
    predicted: Split | None
    billed: Split | None
    span: Span | None


class Note(msgspec.Struct):
    turn: int
    at: float
    kind: str
    text: str


class Tile(msgspec.Struct):
    id: str
    title: str
    value: float | None
    unit: Unit
    tone: Tone
    says: str
    window: str
    source: str


class Row(msgspec.Struct):
    name: str
    cells: int
    tokens: int
    resent: int
    token_turns: int
    sent: int
    sent_turns: int
    resident: int
    retained: int
    pointers: int


class Suspect(msgspec.Struct):
    rule: str
    subject: str
    figure: int
    share: float
    sentence: str
    action: str
    setting: str


class Tool(msgspec.Struct):
    name: str
    tokens: int
    requests: int
    token_turns: int
    calls: int
    last_call: int
    ours: bool


class Actions(msgspec.Struct):
    pin: bool
    recall: bool
    milestone: bool


class Summary(msgspec.Struct):
    schema: Literal["ctxgc.page.session/1"]
    id: str
    origin: str
    live: bool
    models: list[str]
    exact: bool
    first: float
    last: float
    entries: int
    plain: bool
    window: int
    high: int
    low: int
    quality: int
    families: list[str]
    turns: Turns
    collections: list[Collection]
    notes: list[Note]
    tiles: list[Tile]
    by_tag: list[Row]
    by_site: list[Row]
    suspects: list[Suspect]
    tools: list[Tool]
    bypassed: dict[str, int]
    actions: Actions


class Line(msgspec.Struct):
    id: str
    origin: str
    first: float
    last: float
    model: str
    requests: int
    received: int | None
    sent: int | None
    window: int
    live: bool
    net: float | None
    usd: bool
    suspects: int | None


class Columns(msgspec.Struct):
    id: Count
    turn: Count
    tag: Count
    site: Count
    kind: Count
    tokens: Count
    sent: Count
    resident: list[Literal[0, 1]]
    retained: Count
    token_turns: Count
    sent_turns: Count
    cost: list[float]
    references: Count
    referenced: Count
    generation: Count
    pinned: list[Literal[0, 1]]
    verdict: Count
    handle: list[str]


class Cells(msgspec.Struct):
    schema: Literal["ctxgc.page.cells/1"]
    id: str
    requests: int
    tags: list[str]
    sites: list[str]
    kinds: list[str]
    generations: list[str]
    verdicts: list[str]
    columns: Columns
    usd: bool
    kept_by: dict[str, list[tuple[int, int]]]


class One(msgspec.Struct):
    id: int
    turn: int
    tag: str
    site: str
    kind: str
    tokens: int
    sent: int
    resident: int
    retained: int
    token_turns: int
    sent_turns: int
    cost: float
    references: int
    referenced: int
    generation: str
    pinned: int
    verdict: str
    handle: str


class Reference(msgspec.Struct):
    cell: int
    request: int
    site: str
    evidence: str


class Edit(msgspec.Struct):
    policy: str
    action: str
    reason: str
    handle: str


class Cell(msgspec.Struct):
    schema: Literal["ctxgc.page.cell/1"]
    id: str
    cell: One
    kept_by: list[Reference]
    why: list[str]
    refers_to: list[Reference]
    partner: int | None
    edit: Edit | None
    stale: str
    text: str | None
    sent_text: str | None
    cut: bool
    explained: str


class Change(msgspec.Struct):
    message: int
    role: str
    tag: str
    site: str
    cell: int
    tokens: int
    sent: int
    policy: str
    action: str
    reason: str
    record: str
    since: int
    lines: Lines


class Named(msgspec.Struct):
    cell: int
    tag: str
    site: str
    tokens: int


class Resized(msgspec.Struct):
    cell: int
    tag: str
    site: str
    before: int
    after: int


class Tag(msgspec.Struct):
    tag: str
    before: int
    after: int


class Diff(msgspec.Struct):
    schema: Literal["ctxgc.page.diff/1"]
    id: str
    turn: int
    against: int | None
    received: int
    sent: int
    messages: int
    left_out: int
    changes: list[Change]
    new: list[Named] = []
    gone: list[Named] = []
    changed: list[Resized] = []
    by_tag: list[Tag] = []


class Rests(msgspec.Struct):
    artifact: str
    first: int
    last: int
    verifier: str
    version: str


class Fact(msgspec.Struct):
    id: str
    statement: str
    status: Literal["current", "superseded", "withdrawn", "claim"]
    type: str
    criticality: str
    at: float
    author: str
    of: str
    superseded_by: str
    period: str
    source: list[Rests]


class Voucher(msgspec.Struct):
    id: str
    ref: str
    type: str
    size: int
    sha256: str
    at: float
    facts: int


class Period(msgspec.Struct):
    id: str
    milestone: str
    at: float
    facts: int
    lossy: bool


class Reconciled(msgspec.Struct):
    at: float
    match: int
    findings: dict[str, str]
    whole: bool


class Books(msgspec.Struct):
    schema: Literal["ctxgc.page.books/1"]
    id: str
    ledger: str
    facts: list[Fact]
    vouchers: list[Voucher]
    periods: list[Period]
    reconciled: Reconciled | None


class Source(msgspec.Struct):
    artifact: str
    ref: str
    first: int
    last: int
    sha256: str
    recomputed: str
    agree: bool
    slice: str | None


class Trace(msgspec.Struct):
    schema: Literal["ctxgc.page.trace/1"]
    fact: Fact
    sources: list[Source]


class Checked(msgspec.Struct):
    fact: str
    state: str
    detail: str


class Reconcile(msgspec.Struct):
    schema: Literal["ctxgc.page.reconcile/1"]
    rows: list[Checked]
    ok: bool


def typed(document: dict[str, Any], kind: type[T]) -> T:
    """The document as it comes to the page. Raises where it is not of that shape."""
    return msgspec.json.decode(msgspec.json.encode(document), type=kind, strict=True)
