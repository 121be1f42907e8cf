"""Suspects in how a session goes: what only grows, what is changed again and again, what is never collected or called.

Rule: a habit is one suspect, whatever it took to become one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from ctxgc.lab._suspect import COLLECT, Case, Schema, Suspect, named

GROWN = 8
"""Requests in which a source must have grown."""
GROWN_SHARE = 0.1
LOOK = 64
"""The newest requests that are looked at for that."""
CHURN = 0.3
"""Share of requests that sent something again, from which on it is a habit."""
CHURN_REQUESTS = 10
UNCOLLECTED = 30
"""Requests after which a session without a collection is a suspect."""
IDLE_SHARE = 0.5
"""Share of the tokens in hand that must be idle for something to be said of it."""
INJECTED = 3
INJECTED_TOKENS = 16
"""Tokens of a text below which it is no boilerplate: people say "go on" often."""
UNUSED_REQUESTS = 3
_COLLECTABLE = ("tool_result:", "retrieval:", "agent_reasoning")
_SOONER = 'policy = "generational@generational.idle=2"'
_DEARER = "patience = 0.25"
_RARER = "patience = 1.0"


def growing(case: Case) -> Iterator[Suspect]:
    """Sources of what can be collected that only grow, and of which most is idle."""
    for tag, (rises, requests) in _rising(case).items():
        hand = case.hands.get(tag)
        if hand and hand.sent_turns >= GROWN_SHARE * case.total and hand.idle >= IDLE_SHARE * hand.tokens > 0:
            yield case.suspect(
                "growing",
                tag,
                hand.sent_turns,
                f"{tag} grew in {rises} of the last {requests} requests and nothing of it went, though "
                + case.idleness(hand.idle / hand.tokens, "it"),
                "Have what nothing refers to any more collected" + (" sooner." if case.works else "."),
                _sooner(case),
            )


def _rising(case: Case) -> dict[str, tuple[int, int]]:
    """By tag, in how many of the last how many requests it grew; only those that never shrank meanwhile."""
    main = list(islice((one for one in reversed(case.carried.requests) if one.continues), LOOK))
    found: dict[str, tuple[int, int]] = {}
    for tag in main[0].sent if main else ():
        if not tag.startswith(_COLLECTABLE):
            continue
        rises = steps = 0
        for newer, older in pairwise(one.sent.get(tag, 0) for one in main):
            if newer < older or rises == GROWN:
                break
            rises, steps = rises + (newer > older), steps + 1
        if rises >= GROWN:
            found[tag] = rises, steps
    return found


def _sooner(case: Case) -> str:
    """What has more collected: a policy where none is seen, else the same one sooner, or for less."""
    if not case.works:
        return COLLECT
    return _SOONER if case.on("generational") else _DEARER if case.state.pace.candidates else ""


def churn(case: Case) -> Iterator[Suspect]:
    """Prefixes that were sent before and are changed again and again."""
    found = case.carried.churn
    if found.changed < CHURN_REQUESTS * CHURN or found.changed < CHURN * found.requests:
        return
    ours = 2 * found.ours >= found.changed
    who = "by collections" if ours else "by the agent"
    yield case.suspect(
        "cache_churn",
        "collections" if ours else "the agent's history",
        found.tokens,
        f"{found.changed} of {found.requests} requests that a cache can hold sent {found.tokens:,} tokens once more, "
        f"because something before them was changed, mostly {who}",
        "Collect less often, and more at a time."
        if ours
        else "Keep what was sent as it is, and put what changes (times, counts, reminders) at the end.",
        _RARER if ours else "",
    )


def no_collection(case: Case) -> Iterator[Suspect]:
    """A long session of which nothing was ever collected, and most is idle."""
    main = sum(one.continues for one in case.carried.requests)
    if main <= UNCOLLECTED or case.state.evacuated or case.state.plain:
        return
    if case.newest is None or case.state.node(case.newest.head).compacted is not None:
        return
    hands = case.hands.values()
    held, idle = sum(hand.tokens for hand in hands), sum(hand.idle for hand in hands)
    if not held or idle < IDLE_SHARE * held:
        return
    waiting = case.state.pace.candidates
    yield case.suspect(
        "no_collection",
        "the session",
        sum(hand.idle_turns for hand in hands),
        f"{len(case.carried.requests)} requests, and nothing sent was ever collected, though "
        + case.idleness(idle / held, "the context"),
        f"{waiting} results could go and wait until it pays: have them go sooner."
        if waiting
        else "Have what nothing refers to any more collected.",
        _DEARER if waiting else case.advice,
    )


def boilerplate(case: Case) -> Iterator[Suspect]:
    """Texts of users or the system that are put into a history again and again."""
    for numbers in case.carried.index.injected.values():
        first = case.state.cells[numbers[0]]
        if len(numbers) < INJECTED or first.tokens < INJECTED_TOKENS:
            continue
        copies = list(case.repeats(numbers))
        figure = sum(case.carried.sent_turns[cell] for cell in copies)
        if len(copies) + 1 >= INJECTED and figure:
            yield case.suspect(
                "boilerplate",
                f"{first.tag} c{first.id}",
                figure,
                f"The same text of {first.tokens:,} tokens ({first.tag}, cell {first.id}) stands in the history "
                f"{len(copies) + 1} times",
                "Inject it once, at the beginning: it stays in context, and is read from the cache from then on.",
            )


def unused(case: Case) -> Iterator[Suspect]:
    """Tools that were offered and never called, all in one."""
    found = [one for one in case.schemas if not one.calls and not one.ours and one.requests >= UNUSED_REQUESTS]
    if not found:
        return
    found.sort(key=lambda schema: -schema.token_turns)
    tokens, many = sum(schema.tokens for schema in found), len(found) > 1
    what = f"{len(found)} tool schemas were" if many else "The schema of one tool was"
    yield case.suspect(
        "unused_schema",
        named([schema.name for schema in found]),
        sum(schema.token_turns for schema in found),
        f"{what} sent {_offered(case, found)}, {tokens:,} tokens each time, and never called",
        "Do not offer tools that this task cannot need.",
    )


def _offered(case: Case, found: Sequence[Schema]) -> str:
    """With how many of the requests tools were sent."""
    counts, requests = [schema.requests for schema in found], len(case.carried.requests)
    if min(counts) >= requests:
        return "with every request"
    return f"in {'up to ' if min(counts) < max(counts) else ''}{max(counts)} of {requests} requests"
