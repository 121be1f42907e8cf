"""Sessions made by hand: entries applied to a state and told to figures, as a session does it."""

from __future__ import annotations

from collections.abc import Sequence

from ctxgc.core.collector import Edit
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    NewCell,
    NewNode,
    Open,
    Pace,
    Recall,
    Settlement,
    Usage,
)
from ctxgc.core.state import State
from ctxgc.telemetry import METRICS, TABLE, Figures
from ctxgc.tokens import Price

PRICE = Price(
    input=2e-6, cached_read=1e-6, cache_write=3e-6, cache_write_1h=4e-6, output=8e-6,
    max_input_tokens=1000, provider="openai",
)  # fmt: skip
LABELS = {metric.name: metric.labels for metric in TABLE}

Cells = Sequence[tuple[str, int]]


def price(name: str) -> Price | None:
    """The prices of a table with one model."""
    return PRICE if name == "gpt-x" else None


def new_figures() -> Figures:
    return Figures(price)


def cell(tag: str, tokens: int) -> NewCell:
    block = "tool_schema" if tag.startswith("tool_schema") else "tool_result" if ":" in tag else "text"
    return NewCell(block, tag, "site", tokens, tag.encode("utf-8", "replace")[:16])


class Session:
    """A session's journal, as it grows. Messages are given as the tags and tokens of their cells."""

    def __init__(self, figures: Figures | None = None) -> None:
        self.figures = figures or new_figures()
        self.state = State()
        self.head = -1
        self.tell(Open(at=0.0, scope=b"", origin="test", codec="test"))

    def tell(self, entry: AnyEntry) -> None:
        self.state.apply(entry)
        self.figures.observe(self.state, entry)

    def ask(
        self, *messages: Cells, tools: Cells | None = None, toolset: int = -1, model: str = "gpt-x",
        parent: int | None = None, pace: Pace | None = None, continues: bool = True,
    ) -> bytes:  # fmt: skip
        """A request that continues ``parent`` (the last one's end) with new messages; returns its call."""
        first, parent = len(self.state.nodes), self.head if parent is None else parent
        nodes = tuple(
            NewNode(
                first + at - 1 if at else parent, b"%d" % (first + at), b"", b"%d" % (first + at), b"", "user", 0,
                tuple(cell(*each) for each in message),
            )
            for at, message in enumerate(messages)
        )  # fmt: skip
        self.head = first + len(nodes) - 1 if nodes else parent
        call = b"call %d of %d" % (self.state.calls, id(self))
        schemas = None if tools is None else tuple(cell(*each) for each in tools)
        toolset = toolset if schemas is None else len(self.state.toolsets)
        entry = Allocation(
            at=0.0, call=call, model=model, parent=parent, head=self.head, continues=continues, received=b"", sent=b"",
            before=(), after=(), nodes=nodes, toolset=toolset, tools=b"%d" % toolset, schemas=schemas, pace=pace,
        )  # fmt: skip
        self.tell(entry)
        return call

    def collect(self, call: bytes, *edits: tuple[int, int], action: str = "truncate", generation: str = "eden") -> None:
        """Make cells (given by id) come to so many tokens."""
        made = (
            Edit(number, "test", action, "", "", f"h{number}", self.state.cells[number].tokens, after)
            for number, after in edits
        )
        self.tell(Collection(at=0.0, call=call, generation=generation, edits=tuple(made)))

    def settle(
        self, call: bytes, usage: Usage | None = None, *, outcome: str = "ok", estimated: int = 0, model: str = "",
        overhead: float = 0.0, duration: float = 0.0, first_token: float = 0.0, at: float = 0.0,
    ) -> None:  # fmt: skip
        self.tell(
            Settlement(
                at=at, call=call, outcome=outcome, status=200, usage=usage, estimated=estimated, model=model,
                overhead=overhead, duration=duration, first_token=first_token,
            )
        )  # fmt: skip

    def bypass(self, reason: str, call: bytes = b"call", *, plain: bool = False) -> None:
        self.tell(Bypass(at=0.0, call=call, reason=reason, plain=plain))

    def recall(self, number: int, *, found: bool = True) -> None:
        self.tell(Recall(at=0.0, handle=f"h{number}", by="model", cell=number, found=found))

    def count(self, name: str, **labels: str) -> float:
        return count(self.figures, name, **labels)


def count(figures: Figures, name: str, **labels: str) -> float:
    """The sum of a counter over the label sets that have these values. Fails where the figures failed to count."""
    counters = figures.board().counters
    assert counters["ctxgc_telemetry_faults_total"].values == {(): 0}
    places = [(LABELS[name].index(label), value) for label, value in labels.items()]
    values = counters[name].values.items()
    return sum(amount for found, amount in values if all(found[place] == value for place, value in places))


def observed(figures: Figures, name: str, *labels: str) -> tuple[int, float]:
    """How many observations a histogram has, and their sum."""
    assert name in METRICS
    buckets = figures.board().histograms[name].values.get(labels)
    return (sum(buckets.counts), buckets.sum) if buckets else (0, 0.0)
