"""The judge of one replayed session: what its requests cost, what they still showed, and which were not valid.

Rule: it is given each request as it was received and as it was sent, and the recorded messages; it knows nothing else
of who changed what in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxgc.errors import CtxgcError
from ctxgc.lab.billing import ALIVE, Account, Charge, Counts, Fit
from ctxgc.lab.needs import Need
from ctxgc.lab.segments import Segment, Turn
from ctxgc.lab.visible import RECORD, Reader, Sent, instead, listed, read_back
from ctxgc.wire import openai_chat_compacted as compacted
from ctxgc.wire import openai_chat_rules as rules

Recall = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Survival:
    """How many of the ``needed`` lines were ``visible``, how many terms ``named`` anywhere in the body (visible ones
    among them), and of the lines that were not visible how many ``recallable`` through a handle in the body."""

    needed: int = 0
    visible: int = 0
    named: int = 0
    recallable: int = 0

    def __add__(self, other: Survival) -> Survival:
        return Survival(
            self.needed + other.needed,
            self.visible + other.visible,
            self.named + other.named,
            self.recallable + other.recallable,
        )

    @property
    def survived(self) -> float:
        """The share of lines that were visible; 1 where none was needed."""
        return self.visible / self.needed if self.needed else 1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """What the requests of one session came to. Token figures are calibrated, but for ``count``, which is ours.

    ``read`` and ``written`` are the input by what the cache does with it; ``rewritten`` was sent again, having been
    sent before, behind a change of what was already sent, in ``rewrites`` turns. ``invalid`` names the rules that sent
    requests broke, once per request that broke one.
    """

    turns: int = 0
    count: int = 0
    read: float = 0.0
    written: float = 0.0
    rewrites: int = 0
    rewritten: float = 0.0
    invalid: tuple[str, ...] = ()
    survival: Survival = Survival()
    by_tag: Mapping[str, Survival] = field(default_factory=dict)
    by_use: Mapping[str, Survival] = field(default_factory=dict)

    @property
    def tokens(self) -> float:
        """All input."""
        return self.read + self.written


@dataclass(slots=True)
class Judge:
    """The judgement under way: ``take`` every request in order, then ``end``."""

    segment: Segment
    needs: Mapping[int, Sequence[Need]]
    fit: Fit
    counts: Counts
    reader: Reader = field(default_factory=Reader)
    _account: Account = field(init=False)
    _charges: list[Charge] = field(default_factory=list)
    _rewrites: int = 0
    _invalid: list[str] = field(default_factory=list)
    _verdicts: list[tuple[Need, bool, bool]] = field(default_factory=list)
    _lost: list[tuple[Need, tuple[str, ...]]] = field(default_factory=list)
    _last: tuple[Turn, Sequence[bytes], Sequence[bytes]] | None = None

    def __post_init__(self) -> None:
        self._account = Account(self.fit, self.counts)

    def take(self, number: int, received: bytes, sent: bytes) -> Charge:
        """Judge request ``number`` (from 0): its body as it was received, and as it was sent."""
        turn = self.segment.turns[number]
        came = self.segment.transcript.messages[: turn.received]
        found = read_back(sent)
        body, messages = found if found else (None, (sent,))
        before = self._last
        cold = before is None or turn.at - before[0].at > ALIVE
        tools = self.counts.tools(body) if body else 0
        head = body.fields.get("tools", b"") if body else b""
        charge = self._account.charge(head, tools, messages, cold=cold)
        if before is not None and charge.common < len(before[2]):
            self._rewrites += 1
        self._charges.append(charge)
        if sent != received:
            self._invalid += self._broken(came, messages)[:1]
        self._look(number, came, Sent(sent, messages), changed=sent != received)
        self._last = (turn, came, messages)
        return charge

    def end(self, recall: Recall) -> Judged:
        """The judgement. ``recall`` gives back what a handle stands for; it raises ``CtxgcError`` where it cannot."""
        recalled = _Recalled(recall)
        back = {id(need): recalled.holds(handles, need.line) for need, handles in self._lost}
        total, tags, uses = Survival(), defaultdict[str, Survival](Survival), defaultdict[str, Survival](Survival)
        for need, visible, named in self._verdicts:
            one = Survival(1, int(visible), int(visible or named), int(back.get(id(need), False)))
            total, tags[need.tag], uses[need.use] = total + one, tags[need.tag] + one, uses[need.use] + one
        return Judged(
            turns=len(self._charges),
            count=sum(charge.count for charge in self._charges),
            read=sum(charge.read for charge in self._charges),
            written=sum(charge.written for charge in self._charges),
            rewrites=self._rewrites,
            rewritten=sum(charge.again for charge in self._charges),
            invalid=tuple(self._invalid),
            survival=total,
            by_tag=dict(tags),
            by_use=dict(uses),
        )

    def _look(self, number: int, came: Sequence[bytes], sent: Sent, *, changed: bool) -> None:
        handles: tuple[str, ...] | None = None
        for need in self.needs.get(number, ()):
            visible = not changed or sent.shows(need, came, self.reader)
            self._verdicts.append((need, visible, visible or sent.names(need.term)))
            if not visible:
                handles = sent.handles() if handles is None else handles
                self._lost.append((need, handles))

    def _broken(self, came: Sequence[bytes], sent: Sequence[bytes]) -> tuple[str, ...]:
        """The rules that a request breaks: all of it is judged where something stands in the place of messages for the
        first time, else what is new in it or was changed just now."""
        known_came, known_sent = self._last[1:] if self._last else ((), ())
        gone = len(came) - len(sent)
        grown = len(known_came) - len(known_sent) == gone and known_sent == sent[: len(known_sent)]
        ours = () if grown else instead(came, sent)
        if ours:
            return compacted.problems(came, sent, ours)
        gone = gone if grown else 0
        start = self._unjudged(came[gone:], sent, gone, len(known_sent) if grown else 0)
        return _faults(came[gone + start :], sent[start:])

    def _unjudged(self, came: Sequence[bytes], sent: Sequence[bytes], gone: int, start: int) -> int:
        """Where judging begins: at the call before the first thing that is new, or was changed just now.

        What the request before had already was judged with it. ``gone`` messages are not in what ``came``.
        """
        roles = self.segment.transcript.roles
        while start < min(len(came), len(sent)) and came[start] == sent[start]:
            start += 1
        while start > 0 and (start == len(came) or roles[gone + start] in ("tool", "function")):
            start -= 1
        return start


class _Recalled:
    """What handles gave back; each is asked for once."""

    def __init__(self, recall: Recall) -> None:
        self._recall = recall
        self._known: dict[str, str] = {}
        self._beyond: dict[str, str] = {}

    def holds(self, handles: Sequence[str], line: str) -> bool:
        return any(line in self._text(handle) or line in self._listed(handle) for handle in handles)

    def _listed(self, handle: str) -> str:
        """What all the cells hold that a record lists; nothing for what is no record."""
        if handle not in self._beyond:
            text = self._text(handle)
            cells = listed(text) if text.startswith(RECORD) else ()
            self._beyond[handle] = "\n".join(map(self._text, cells))
        return self._beyond[handle]

    def _text(self, handle: str) -> str:
        if handle not in self._known:
            try:
                self._known[handle] = self._recall(handle)
            except CtxgcError:
                self._known[handle] = ""
        return self._known[handle]


def _faults(before: Sequence[bytes], after: Sequence[bytes]) -> tuple[str, ...]:
    """The rules that a request breaks, and what it was made from does not."""
    found = rules.problems(before, after)
    return found if found or rules.valid(before) else rules.valid(after)
