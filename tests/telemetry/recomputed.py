"""What /metrics must say, recomputed from nothing but stored journals: by adding up cells, request by request.

It knows nothing of how telemetry counts. It is for loads in which requests come one after another and nothing is
compacted, with one model that has a price.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ctxgc.core.compaction import Milestone
from ctxgc.core.heap import Cell
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Insertion,
    Recall,
    Recovery,
    Settlement,
)
from ctxgc.core.state import State
from ctxgc.lab.gc_log import gc_log
from ctxgc.lab.profile import profile
from ctxgc.tokens import Calibration, Price

MODEL = ("openai", "gpt-5")
KINDS = ("ok", "partial", "aborted", "error")
NOT_IN_THE_JOURNAL = {
    "ctxgc_collection_duration_seconds", "ctxgc_audit_verify_failures_total", "ctxgc_telemetry_faults_total",
    "ctxgc_sessions_active", "ctxgc_requests_in_flight", "ctxgc_store_bytes", "ctxgc_build_info",
}  # fmt: skip
"""How long work took, what is wrong with the store or with the figures themselves, and what is so only now."""
Key = tuple[str, ...]


class Recomputed:
    """``counters`` by name and label values in the order of the table; ``observed`` likewise, for histograms."""

    def __init__(self, price: Price) -> None:
        self.price = price
        self.counters: Counter[Key] = Counter()
        self.observed: defaultdict[Key, list[float]] = defaultdict(list)
        self.live: Counter[str] = Counter()
        self._newest: Counter[str] = Counter()
        self._settled: list[tuple[Settlement, Allocation | None, tuple[int, int]]] = []

    def all(self, journals: Mapping[bytes, Sequence[AnyEntry]]) -> None:
        """Add up all sessions of a store."""
        for entries in journals.values():
            self._session(entries)
        self._calibrated()

    def add(self, name: str, *labels: str, amount: float = 1) -> None:
        if amount > 0:
            self.counters[f"ctxgc_{name}_total", *labels] += amount

    def _session(self, entries: Sequence[AnyEntry]) -> None:
        state, said, before, self._newest = State(), ("", ""), (0.0, 0.0), Counter()
        for at, entry in enumerate(entries):
            self.add("audit_entries")
            old = list(state.cells)
            spent = self._undone(state, entry)
            state.apply(entry)
            if isinstance(entry, Allocation) and entry.pace:
                self.add("input_cost_usd", "paid", amount=entry.pace.paid - before[0])
                self.add("input_cost_usd", "untouched", amount=entry.pace.untouched - before[1])
                before = entry.pace.paid, entry.pace.untouched
            elif isinstance(entry, Collection):
                self._collected(entry, entries[:at], old, state)
            elif isinstance(entry, Recall):
                self._recalled(entry, state)
            elif isinstance(entry, Settlement | Recovery):
                self._ended(entry, entries[: at + 1], state)
            elif isinstance(entry, Milestone):
                self.add("milestones")
            elif isinstance(entry, Insertion) and entry.told >= 0:
                self.add("ledger_news")
            elif isinstance(entry, Bypass):
                new = entry.call.hex(), "refused" if entry.plain else entry.reason.partition(":")[0]
                self.add("fail_open", new[1], amount=new != said)
                self.add("cache_invalidated_tokens", MODEL[0], "plain", amount=spent)
                said = new
        self._suspected(entries)
        self._foretold(entries)
        self.live += self._newest

    def _undone(self, state: State, entry: AnyEntry) -> int:
        """What of the known part of a request that is sent as it came after all had been sent otherwise before."""
        if not (isinstance(entry, Bypass) and entry.plain):
            return 0
        asked = state.unsettled[entry.call]
        known = [node for node in state.path(asked.head) if node.id <= asked.parent]
        cells = [state.cells[cell] for node in known for cell in node.cells]
        if asked.offered:
            return sum(cell.tokens for cell in (*cells, *tools(state, asked)))
        changed = next((at for at, cell in enumerate(cells) if cell.id in state.edits), len(cells))
        return sum(cell.tokens for cell in cells[changed:])

    def _collected(self, entry: Collection, before: Sequence[AnyEntry], old: Sequence[Cell], state: State) -> None:
        trigger = asked(before, entry.call).pace.trigger  # type: ignore[union-attr]
        kind = ("eden", "eden") if entry.generation == "eden" else (trigger, entry.generation)
        self.add("collections", *kind, "collected")
        for edit in entry.edits:
            action = edit.action.rpartition("+")[2]
            gone = old[edit.cell].sent - state.cells[edit.cell].sent
            self.add("collected_tokens", *place(old[edit.cell]), action, amount=gone)

    def _recalled(self, entry: Recall, state: State) -> None:
        if not entry.found:
            self.add("resurrections", "", "miss")
            return
        cell = state.cells[entry.cell]
        self.add("resurrections", place(cell)[0], "hit")
        self.add("resurrected_tokens", *place(cell), amount=cell.tokens - cell.sent)

    def _ended(self, entry: Settlement | Recovery, so_far: Sequence[AnyEntry], state: State) -> None:
        request = next((one for one in so_far if isinstance(one, Allocation) and one.call == entry.call), None)
        saved = self._carried(request, so_far, state) if request else (0, 0)
        if isinstance(entry, Settlement):
            self._settled.append((entry, request, saved))
            model = MODEL if request else ("other", "other")
            self.add("requests", *model, entry.outcome)
            self._times(entry, model)
            usage = entry.usage
            for kind, tokens in () if usage is None else (
                ("input_uncached", usage.uncached), ("cache_read", usage.cached), ("cache_write", usage.written),
                ("output", usage.output - usage.reasoning), ("reasoning", usage.reasoning),
            ):  # fmt: skip
                self.add("provider_tokens", *model, kind, amount=tokens)

    def _times(self, entry: Settlement, model: Key) -> None:
        self.observed["ctxgc_request_overhead_seconds",] += [entry.overhead] if entry.overhead else []
        if entry.outcome == "ok":
            self.observed["ctxgc_upstream_duration_seconds", *model].append(entry.duration)
        if entry.first_token:
            self.observed["ctxgc_upstream_time_to_first_token_seconds", *model].append(entry.first_token)

    def _carried(self, request: Allocation, so_far: Sequence[AnyEntry], state: State) -> tuple[int, int]:
        """A request as it came and as it left; the new and the old tokens that it was spared."""
        sizes = Counter[str]()
        spared = Counter[bool]()
        left = Counter[str]()
        for cell, came, new, said in carried(request, state):
            for stage, tokens in (("received", 0 if request.again else came), ("forwarded", cell.sent)):
                residency = "fresh" if new else "replayed"
                self.add("context_tokens", stage, *place(cell), residency, amount=tokens)
                sizes[stage] += tokens
            spared[new] += came - cell.sent if said else 0
            left[place(cell)[0]] += cell.sent
        for stage in ("received", "forwarded")[request.again :]:
            self.observed["ctxgc_request_context_tokens", stage, MODEL[1]].append(sizes[stage])
            share = sizes[stage] / self.price.max_input_tokens  # type: ignore[operator]
            self.observed["ctxgc_context_window_utilization_ratio", stage, MODEL[1]].append(share)
        self._rewritten(request, so_far)
        self._newest = left
        saved = (0, 0) if request.again else (max(spared[True], 0), max(spared[False], 0))
        self.add("collection_cost_tokens", "saved", amount=sum(saved))
        return saved

    def _rewritten(self, request: Allocation, so_far: Sequence[AnyEntry]) -> None:
        pace = request.pace
        if not any(isinstance(one, Collection) and one.call == request.call for one in so_far):
            self.add("collections", "none", "none", "noop")
        if pace and pace.trigger:
            self.add("collection_cost_tokens", "rewritten", amount=pace.live)
            self.add("cache_invalidated_tokens", MODEL[0], pace.trigger, amount=pace.live)
            self.add("cost_usd", MODEL[1], "cache_penalty", amount=pace.price)

    def _calibrated(self) -> None:
        """What follows from how far earlier estimates were off, in the order in which requests ended."""
        known = Calibration()
        for entry, request, (new, old) in sorted(self._settled, key=lambda one: one[0].at):
            usage = entry.usage
            if usage is None or request is None:
                continue
            bill = self.price.cost(
                uncached=usage.uncached, cached=usage.cached, written=usage.written, output=usage.output
            )
            self.add("cost_usd", MODEL[1], "billed", amount=bill)
            if entry.estimated:
                known = known.observe("gpt-5", entry.estimated, usage.input)
                error = known.samples["gpt-5"][-1].error
                self.observed["ctxgc_token_estimate_error_ratio", *MODEL].append(error)
            step = self.price.at(usage.input)
            avoided = (new * step.input + old * step.cached_read) * min(1.0, known.factor("gpt-5"))
            self.add("cost_usd", MODEL[1], "avoided", amount=avoided)
            if request.pace and request.pace.trigger:
                self.add("collection_forecast_tokens", "read", "billed", amount=usage.cached)
                self.add("collection_forecast_tokens", "written", "billed", amount=usage.uncached + usage.written)

    def _suspected(self, entries: Sequence[AnyEntry]) -> None:
        told: set[tuple[str, str]] = set()
        calls = {one.call for one in entries if isinstance(one, Allocation)}
        ends = [at for at, one in enumerate(entries) if isinstance(one, Settlement | Recovery) and one.call in calls]
        for look in (10, 20, 40, 80):
            if look <= len(ends):
                told |= {(one.rule, one.subject) for one in profile(entries[: ends[look - 1] + 1]).suspects}
        for rule, _ in told:
            self.add("leak_suspects", rule)

    def _foretold(self, entries: Sequence[AnyEntry]) -> None:
        """Of requests with a bill, what the log of collections says was predicted of them."""
        for made in gc_log(entries, lambda _: self.price, lambda _: self.price.min_cacheable).made:
            if made.predicted and made.billed:
                self.add("collection_forecast_tokens", "read", "predicted", amount=made.predicted.read)
                self.add("collection_forecast_tokens", "written", "predicted", amount=made.predicted.written)


def carried(request: Allocation, state: State) -> Iterator[tuple[Cell, int, bool, bool]]:
    """The cells that left with a request that has just ended: each with its tokens as it came, whether it is new, and
    whether it is of the history."""
    path = state.path(request.head)
    first = len(state.nodes) - len(request.nodes)
    new_nodes = {node.id for node in path if node.id > request.parent and node.id >= first}
    for number, node in enumerate(path):
        child = path[number + 1].id if number + 1 < len(path) else -1
        for cell in node.cells:
            yield state.cells[cell], state.cells[cell].tokens, node.id in new_nodes, True
        for ours in state.own.behind(node.id, child):
            for cell in ours.cells:
                yield state.cells[cell], 0, ours.call == request.call, True
    for one in tools(state, request):
        yield one, one.tokens, request.schemas is not None, False
    if request.offered and path[-1].offer >= 0:
        yield state.cells[state.own.offers[path[-1].offer].cell], 0, request.schemas is not None, False


def tools(state: State, request: Allocation) -> list[Cell]:
    return [state.cells[cell] for cell in state.toolset(request.toolset).cells]


def asked(entries: Sequence[AnyEntry], call: bytes) -> Allocation:
    return next(one for one in entries if isinstance(one, Allocation) and one.call == call)


def place(cell: Cell) -> tuple[str, str]:
    """A cell's tag and source."""
    family, _, source = cell.tag.partition(":")
    return family, source
