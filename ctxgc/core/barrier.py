"""The write barrier: which results of a conversation still show how things are, and which are out of date.

Rule: a result is stale only when all that it showed has been written to or shown again; in doubt it is fresh. The work
of one result follows the live views of the resources that it touches, never the length of the conversation.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from operator import ne

from ctxgc.core.resource_tables import WORKTREE, Access, Verb, absolute

TRACKED = 256
"""Live views of one resource that are watched. An older one is let go: it is never stale, and stays as it is."""
HELD = 262_144
"""Characters of a view in which quotes are looked for."""

_SHORT = 400
_NAMESAKES = 64
_GUTTER = re.compile(r"^[ \t]*+\d{1,7}(?:→|\t|[ ]?[|:])")
_PREFIX = re.compile(r"(?:\s|observation:|output:|<[\w-]{1,40}+>)*+", re.IGNORECASE)
_FAILED = re.compile(
    r"(?:\w+(?: \w+)?: )?(?:tool )?(?:error|failed|failure|exception|traceback|fatal)\b"
    r"|(?:command )?exit(?:ed)?\b.{0,20}\b[1-9]|-?[1-9]\d*</returncode>|the user doesn't want"
    r"|.{0,300}?(?:no such file|does not exist|file not found|permission denied|is a directory|not a directory"
    r"|could not find|not found in|can't (?:read|open)|cannot (?:access|open|read|stat)|no replacement"
    r"|not been read|not unique|no match(?:es)? found)",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"\b(?:unchanged|not changed|no changes?|already (?:read|shown|in context))\b"
    r"|\bsee (?:the )?(?:above|earlier|previous)\b|\bsame (?:as|output|content)",
    re.IGNORECASE,
)
_AGAIN = {Verb.READ: "read again", Verb.LIST: "listed again", Verb.SEARCH: "searched again"}


@dataclass(frozen=True, slots=True)
class Stale:
    """The result ``cell`` is out of date since the result ``by``.

    ``why``: ``written``, ``read again``, ``listed again`` or ``searched again``.
    """

    cell: int
    by: int
    why: str


@dataclass(eq=False, slots=True)
class _View:
    """What a result showed of a resource. ``quoted``: an edit quoted from it, so that edits do not make it stale."""

    cell: int
    access: Access
    text: str
    quoted: bool = False
    plain: str | None = None

    def whole(self) -> bool:
        """Whether it shows lines as they are, so that an edit may quote them."""
        return self.access.verb is Verb.READ and not self.access.query

    def last(self) -> int:
        """The last line that it can have shown, by its own number of lines."""
        shown = (self.access.start or 1) + self.text.count("\n")
        return min(shown, self.access.end or shown)

    def holds(self, plain: str) -> bool:
        """Whether its text shows these lines, whatever stands before each of them."""
        if self.plain is None:
            self.plain = _plain(self.text[:HELD])
        return plain in self.plain


@dataclass(eq=False, slots=True)
class _Resource:
    """The live views of one resource: reads, the oldest first; listings and searches by what was asked for.

    ``anchored``: its name means the same in every folder.
    """

    anchored: bool
    reads: dict[_View, None] = field(default_factory=dict)
    listed: dict[tuple[Verb, str], _View] = field(default_factory=dict)


class Barrier:
    """Remembers what is fresh. Fed with the results of a conversation in their order."""

    def __init__(self) -> None:
        self._resources: dict[str, _Resource] = {}
        self._tails: dict[str, list[str]] = {}
        self._live = Counter[int]()
        self._kept = Counter[int]()
        self._quoted = Counter[int]()
        self._stale: dict[int, Stale] = {}

    def take(self, cell: int, accesses: tuple[Access, ...], text: str, failed: bool) -> tuple[Stale, ...]:
        """A result arrived: ``text`` of a call that did ``accesses``. Returns what it makes out of date.

        One that ``failed``, or is short and says that it did, changes nothing and shows nothing; one that is empty,
        or short and says that nothing has changed, shows nothing. What several accesses showed is stale with the last.
        """
        if failed or _says_failed(text):
            return ()
        shows = not _shows_nothing(text)
        gone: dict[int, str] = {}
        for access in accesses:
            if access.verb is Verb.EDIT and access.quotes:
                self._quote(access)
        for access in accesses:
            if access.verb in (Verb.WRITE, Verb.EDIT):
                self._write(access, gone)
            elif shows:
                self._show(_View(cell, access, text), gone)
        stale = tuple(Stale(old, cell, why) for old, why in gone.items() if old not in self._live)
        self._stale.update((entry.cell, entry) for entry in stale)
        return stale

    def stale(self, cell: int) -> Stale | None:
        """Since when and why the result ``cell`` is out of date, or None while it is not."""
        return self._stale.get(cell)

    def quoted(self) -> frozenset[int]:
        """The results that must not be shortened in place, because an edit has to quote them byte for byte.

        These are the newest plain read of each range, and other views that an edit quoted from; none that is stale.
        """
        return frozenset(self._kept)

    def in_use(self) -> frozenset[int]:
        """Those of them that an edit has quoted from: the agent is working on what they show."""
        return frozenset(self._quoted)

    def _show(self, view: _View, gone: dict[int, str]) -> None:
        resource, access = self._resource(view.access.resource), view.access
        self._live[view.cell] += 1
        if access.verb is not Verb.READ:
            old = resource.listed.get((access.verb, access.query))
            resource.listed[access.verb, access.query] = view
            if old and (resource.anchored or _akin(view, old)):
                self._end(old, _AGAIN[access.verb], gone)
            return
        for old in [old for old in resource.reads if _supersedes(view, old, resource.anchored)]:
            del resource.reads[old]
            self._end(old, _AGAIN[access.verb], gone)
        resource.reads[view] = None
        self._kept.update([view.cell] if view.whole() else [])
        if len(resource.reads) > TRACKED:
            del resource.reads[next(iter(resource.reads))]

    def _write(self, access: Access, gone: dict[int, str]) -> None:
        derived = () if access.resource.startswith("git:") else WORKTREE
        for resource in [self._resource(access.resource), *map(self._resource, derived)]:
            for view in list(resource.reads):
                if access.verb is Verb.WRITE or not view.quoted:
                    del resource.reads[view]
                    self._end(view, "written", gone)

    def _quote(self, access: Access) -> None:
        """Keep the newest read that shows what an edit quotes; if none seems to, the newest that shows lines at all."""
        reads, quote = self._resource(access.resource).reads, _plain(access.quotes, numbered=False)
        source = next((view for view in reversed(reads) if view.holds(quote)), None)
        source = source or next((view for view in reversed(reads) if view.whole()), None)
        if source and not source.quoted:
            source.quoted = True
            self._quoted[source.cell] += 1
            self._kept.update([] if source.whole() else [source.cell])

    def _end(self, view: _View, why: str, gone: dict[int, str]) -> None:
        _less(self._live, view.cell)
        if view.whole() or view.quoted:
            _less(self._kept, view.cell)
        if view.quoted:
            _less(self._quoted, view.cell)
        gone[view.cell] = why

    def _resource(self, name: str) -> _Resource:
        """The resource of this name, or of one that means the same: a path that ends with all of a relative one."""
        known = self._resources.get(name)
        if known is not None:
            return known
        tail = "/".join(name.rsplit("/", 2)[-2:])
        names = self._tails.setdefault(tail, []) if "/" in name and "://" not in name else []
        found = self._same(name, names) or _Resource(absolute(name))
        found.anchored = found.anchored or absolute(name)
        if len(names) <= _NAMESAKES:
            names.append(name)
        self._resources[name] = found
        return found

    def _same(self, name: str, names: list[str]) -> _Resource | None:
        """The one resource that a path must mean; None where there is none or several, or too many to look at."""
        if len(names) > _NAMESAKES:
            return None
        if absolute(name):
            shorter = [other for other in names if not absolute(other) and name.endswith(f"/{other}")]
            found = [resource for other in shorter if not (resource := self._resources[other]).anchored]
        else:
            found = [self._resources[other] for other in names if absolute(other) and other.endswith(f"/{name}")]
        return found[0] if len(found) == 1 else None


def _less(counts: Counter[int], cell: int) -> None:
    counts[cell] -= 1
    if not counts[cell]:
        del counts[cell]


def _supersedes(new: _View, old: _View, anchored: bool) -> bool:
    """Whether ``new`` shows all that ``old`` did, of the same resource.

    Of the same range it must be at least half as long: an acknowledgement is not a read. Of a wider one, it must reach
    as far: a tool may have cut it short.
    """
    this, that = new.access, old.access
    start, earlier = this.start or 1, that.start or 1
    same = start == earlier and this.end == that.end
    covers = start <= earlier and (this.end is None or (that.end is not None and that.end <= this.end))
    if this.query != that.query or not (same or (covers and not this.query)):
        return False
    enough = 2 * len(new.text) >= len(old.text) if same else new.last() >= old.last()
    return enough and (anchored or _akin(new, old))


def _akin(new: _View, old: _View) -> bool:
    """Whether two views seem to be of one thing, as relative names are not: the longest line is in both."""
    return new.holds(max(_plain(old.text[:HELD]).split("\n"), key=len))


def _plain(text: str, numbered: bool = True) -> str:
    """The text without indents, and without line numbers if at least half of its lines have one."""
    lines = text.split("\n")
    if numbered:
        bare = [_GUTTER.sub("", line, count=1) for line in lines]
        if 2 * sum(map(ne, bare, lines)) >= len(lines):
            lines = bare
    return "\n".join(line.strip() for line in lines)


def _says_failed(text: str) -> bool:
    if len(text) > _SHORT or _GUTTER.match(text):
        return False
    start = _PREFIX.match(text)
    return _FAILED.match(text, start.end() if start else 0) is not None


def _shows_nothing(text: str) -> bool:
    return (len(text) <= _SHORT and _UNCHANGED.search(text) is not None) or not text or text.isspace()
