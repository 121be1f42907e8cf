"""The page's own files, read once: what is served under ``/ctxgc/`` without a token, since it holds no secret.

Rule: only what is in this package is served, by the names it has there; a request's path is looked up and never joined.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".json": "application/json",
}
"""What is served, by how a name ends."""
INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is served. ``tag`` is its entity tag, in quotes."""

    body: bytes
    media: str
    tag: str


def static() -> dict[str, File]:
    """The page's files, by their path in the folder."""
    return {name: _file(name, entry.read_bytes()) for name, entry in _walk(files("ctxgc.web") / "static", "")}


def _walk(folder: Traversable, above: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        name = above + entry.name
        if entry.is_dir():
            yield from _walk(entry, f"{name}/")
        elif _ending(name) in TYPES:
            yield name, entry


def _file(name: str, body: bytes) -> File:
    return File(body, TYPES[_ending(name)], f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _ending(name: str) -> str:
    return f".{name.rpartition('.')[2]}"
