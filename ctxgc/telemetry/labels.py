"""Label values: from what journals say in free text to small fixed sets.

Rule: whatever comes in, what leaves here is one of a known few, or one of the first ``SOURCES`` sources seen.
"""

from __future__ import annotations

from ctxgc.core.state import EDEN
from ctxgc.lab.suspects import RULES

SOURCES = 40
"""Values of the ``source`` label; later ones are counted under ``REST``."""
REST = OTHER = "other"

TAGS = frozenset(
    {
        "system_prompt", "tool_schema", "user_turn", "agent_reply", "agent_reasoning", "tool_call", "tool_result",
        "retrieval", "summary", "recall", "ledger",
    }
)  # fmt: skip
"""Families of tags that have a name of their own; an application's own tags are the sources of ``other``."""
SUMMARIZE = "summarize"
"""The action of a compaction: a record stands for it."""
ACTIONS = frozenset({"drop", "stub", SUMMARIZE, "dedupe", "truncate", "minify", "defuse", "excerpt"})
OUTCOMES = frozenset({"ok", "partial", "aborted", "error"})
NONE = "none"
"""Trigger and generation of a request for which nothing was collected."""
TRIGGERS = ("cold", "rent", "window", "quality", "asked")
MILESTONE = "milestone"
"""The trigger of a compaction alone, which is always a major collection."""
COMPACTED_FOR = (MILESTONE, "window", "quality")
PLAIN = "plain"
"""All that was collected in a session is taken back: the provider had refused it."""
CAUSES = (*TRIGGERS, MILESTONE, PLAIN)
"""Why something that a provider had in its cache was sent in another form."""
COLLECTED_BY = (
    (EDEN, EDEN, "collected"),
    *((trigger, generation, "collected") for trigger in TRIGGERS for generation in ("minor", "major")),
    (MILESTONE, "major", "collected"),
    (NONE, NONE, "noop"),
    (NONE, NONE, "aborted"),
)
"""Trigger, generation and outcome of collections."""
REASONS = ("malformed", "invalid", "fault", "policy", "refused", "not_booked", "audit", "ledger")

_SYNONYMS = {"validator": "invalid", "dedup": "dedupe", "restore": "stub"}
_IN_WORDS = {"not booked": "not_booked"} | dict.fromkeys(
    ("not told", "not posted", "period not closed", "errand failed"), "ledger"
)
_LENGTH = 80
_KNOWN = 4096
REMEMBERED = 300
"""Characters of a name that caches keep: a client may send names of megabytes, each another one."""


class Provenance:
    """From a cell's tag to its ``tag`` and ``source`` labels. The first sources seen keep names of their own.

    Where ``sources`` are not wanted, that label is empty.
    """

    __slots__ = ("_known", "_sources", "_wanted")

    def __init__(self, *, sources: bool = True) -> None:
        self._wanted = sources
        self._sources: set[str] = set()
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, tag: str) -> tuple[str, str]:
        """The labels of a tag: ``tool_result:NAME`` is a ``tool_result`` from ``NAME``."""
        found = self._known.get(tag)
        if found is None:
            found = self._place(tag)
            if len(self._known) < _KNOWN and len(tag) <= REMEMBERED:
                self._known[tag] = found
        return found

    def _place(self, tag: str) -> tuple[str, str]:
        family, _, source = tag.partition(":")
        if family not in TAGS:
            family, source = OTHER, tag
        return family, self._admit(_source(source)) if source and self._wanted else ""

    def _admit(self, source: str) -> str:
        if source not in self._sources:
            if len(self._sources) >= SOURCES:
                return REST
            self._sources.add(source)
        return source


def action_of(actions: str) -> str:
    """The action of an edit; of several, joined by ``+``, the last: the one that gave the text its final form."""
    return _fixed(actions.rpartition("+")[2], ACTIONS, OTHER)


def collected_by(generation: str, trigger: str) -> tuple[str, str, str]:
    """The labels of a collection; a generation or a trigger that is not known counts as the commonest one."""
    if generation == EDEN:
        return EDEN, EDEN, "collected"
    if trigger == MILESTONE:
        return MILESTONE, "major", "collected"
    return (
        _fixed(trigger, frozenset(TRIGGERS), "rent"),
        _fixed(generation, frozenset(("minor", "major")), "major"),
        "collected",
    )


def compacted_by(trigger: str, by: str) -> tuple[str, str]:
    """The labels of a compaction: why it was made, and whether a model had a part in its record or code alone."""
    return _fixed(trigger, frozenset(COMPACTED_FOR), "window"), "model" if by else "code"


def cause_of(trigger: str) -> str:
    """Why a collection rewrote what was sent before; a trigger that is not known counts as the commonest one."""
    return _fixed(trigger, frozenset(CAUSES), "rent")


def rule_of(rule: str) -> str:
    """The rule that a suspect comes from."""
    return _fixed(rule, frozenset(RULES), OTHER)


def outcome_of(outcome: str) -> str:
    """A settlement's outcome."""
    return _fixed(outcome, OUTCOMES, "error")


def reason_of(reason: str) -> str:
    """Why a request went on without us: the first words of the journal's reason, else ``fault``."""
    known = next((label for said, label in _IN_WORDS.items() if reason.lower().startswith(said)), "")
    if known:
        return known
    words = reason.replace(":", " ").lower().split(maxsplit=1)
    return _fixed(words[0] if words else "", frozenset(REASONS), "fault")


def _fixed(word: str, values: frozenset[str], default: str) -> str:
    word = _SYNONYMS.get(word, word)
    return word if word in values else default


def _source(name: str) -> str:
    """A source as a label: tools of one MCP server are one, long names are cut, lone surrogates cannot be served."""
    parts = name.split("__")
    if len(parts) > 2 and parts[0] == "mcp":
        name = f"mcp:{parts[1]}"
    return name[:_LENGTH].encode("utf-8", "replace").decode()
