"""The seam between wire formats and the rest: what a codec can do, and the values that cross.

Rule: a codec is pure, knows nothing of sessions, and gives offsets into the bytes as they came, so that whoever edits
them splices. A format whose history is not a list of messages (Responses' items) calls each element a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ctxgc.core.block import Block, Message
from ctxgc.core.journal import Usage
from ctxgc.core.spans import Span


@dataclass(frozen=True, slots=True)
class Body:
    """A request body, split. ``text[:start]`` precedes the first message, ``text[end:]`` follows the last.

    ``messages`` are spans into ``text`` of the messages from ``first`` on: a body that begins with the bytes of an
    earlier one is only split behind them. ``fields`` holds the raw bytes of every top-level member but the history,
    ``head`` those of them that stand before it. ``behind`` is where the split began: ``start``, or the prefix's end.
    """

    text: bytes
    start: int
    end: int
    messages: tuple[Span, ...]
    fields: Mapping[str, bytes]
    head: Mapping[str, bytes]
    behind: int
    first: int = 0

    def known(self) -> Known:
        """What to keep of this body, for the next one to be resumed behind it."""
        return Known(self.text[: self.end], self.first + len(self.messages), self.start, self.head)


@dataclass(frozen=True, slots=True)
class Known:
    """What was kept of a body for the next one to be compared with: its bytes up to the end of its last message,
    how many messages these hold, where the first began, and the members that stand before the history."""

    prefix: bytes
    count: int
    start: int
    head: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered: its usage, the model it named, the blocks it wrote, how it finished, or its error."""

    usage: Usage | None = None
    model: str = ""
    blocks: tuple[Block, ...] = ()
    finish: str = ""
    error: str = ""
    complete: bool = True
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a tool of ours: its id, and its arguments as the model wrote them."""

    id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Asking:
    """A reply that calls a tool of ours: the message as it enters the history, with these calls and no others.

    ``alone`` says that the reply calls nothing else, so that it is not for the client to go on.
    """

    message: bytes
    uses: tuple[Use, ...]
    alone: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    """What replies before this one, which the client gets as one with it, have used (raw figures) and said."""

    usage: Mapping[str, object] = field(default_factory=dict)
    text: str = ""


class Sieve(Protocol):
    """Takes the calls of one tool out of a reply on its way to the client; all else passes byte for byte.

    From its finish on, a reply with such calls is kept, since another may take its place. Nothing it meets may raise.
    """

    @property
    def met(self) -> bool:
        """Whether the reply called the tool."""

    @property
    def ended(self) -> bool:
        """Whether a stream has come to its end."""

    def feed(self, chunk: bytes) -> bytes:
        """What the client may have, now that the next bytes of the reply are there."""

    def rest(self) -> bytes:
        """What was kept, for a reply that is the last."""

    def earlier(self) -> Earlier:
        """What this reply and those before it come to, for the one that takes its place."""


class ReplyReader(Protocol):
    """Reads a reply while its bytes are relayed; nothing it meets may raise."""

    @property
    def begun(self) -> bool:
        """Whether anything of what the model wrote has come; of a reply that is not streamed, anything at all."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the reply, cut anywhere."""

    def finish(self) -> Reply:
        """What the reply said, also if it broke off."""


class Codec(Protocol):
    """One wire format."""

    @property
    def name(self) -> str:
        """The name it has in the journal: its module's."""

    def split(self, text: bytes) -> Body:
        """Split a body. Raises ``Malformed`` for what is not a request of this format."""

    def resume(self, text: bytes, known: Known) -> Body | None:
        """Split only what is new in a body that begins with a known one's bytes; None if it does not."""

    def decode(self, raw: bytes) -> Message:
        """One message's blocks. Raises ``Malformed``. Unknown kinds of content become blocks of kind ``other``."""

    def schemas(self, body: Body) -> tuple[Message, ...]:
        """The tool schemas of a body, one message each."""

    def project(self, raw: bytes, edits: Mapping[int, str]) -> bytes:
        """The message as it is sent: the text of the numbered blocks replaced, ctxgc's own fields taken out."""

    def problems(self, before: Sequence[bytes], after: Sequence[bytes]) -> tuple[str, ...]:
        """Why ``after`` may not stand for ``before``, messages both: every rule it breaks and ``before`` did not."""

    def left_out(self, before: Sequence[bytes], after: Sequence[bytes], ours: Sequence[bytes]) -> tuple[str, ...]:
        """Why ``after`` may not stand for the whole history ``before``, of which a span is left out; ``ours`` are those
        of its messages that did not come."""

    def record(self, text: str, handle: str, tool: str, *, reasoning: bool) -> tuple[bytes, ...]:
        """The messages that stand for a span: a call of ``tool`` for a handle and its answer, or (for no tool) words of
        the agent's. ``reasoning`` says that the history's agent messages carry theirs."""

    def news(self, text: str, handle: str, tool: str, *, reasoning: bool) -> tuple[bytes, ...]:
        """The messages that tell the agent something at the end of a history, in the same forms."""

    def reader(self, *, stream: bool) -> ReplyReader:
        """A reader for the reply to a request."""

    def tool(self, name: str, description: str, parameters: Mapping[str, object]) -> bytes:
        """A tool as this format writes it, always the same bytes; ``parameters`` is a JSON schema."""

    def room(self, body: Body, name: str) -> bool:
        """Whether a body has tools, and none of that name, so that one may be put behind them."""

    def single(self, body: Body) -> bool:
        """Whether one answer is asked for, and it may call tools."""

    def offer(self, around: bytes, tool: bytes) -> bytes:
        """The bytes before or behind a history, with ``tool`` behind the last of the client's, if they stand there."""

    def sieve(self, name: str, earlier: Earlier, *, stream: bool) -> Sieve:
        """A sieve for the calls of the tool ``name`` in a reply behind ``earlier`` ones."""

    def asking(self, reply: bytes, name: str) -> Asking | None:
        """The calls of the tool ``name`` in a whole reply, streamed or not; None if there are none to be answered."""

    def answers(self, uses: Sequence[Use], texts: Sequence[str]) -> tuple[bytes, ...]:
        """The messages that answer calls, as they stand behind the ``Asking``'s."""
