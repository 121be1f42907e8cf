"""Writing a file that somebody named: whole, or not at all.

Rule: what stood there before stays until all that is to take its place has been written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click

from ctxgc.errors import InputError


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """A file to write UTF-8 to, or its ``buffer`` for bytes; - is stdout. Raises ``InputError``."""
    try:
        if _replaceable(path):
            with _replacing(Path(os.path.realpath(path))) as out:
                yield out
        else:
            with click.open_file(str(path), "w", encoding="utf-8") as out:
                yield out
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _replaceable(path: Path) -> bool:
    """Whether another file can be put in its place: not where that is a device or a pipe, or the folder is not ours."""
    if str(path) == "-" or (path.exists() and not path.is_file()):
        return False
    return not path.exists() or os.access(os.path.realpath(path.parent), os.W_OK)


@contextmanager
def _replacing(target: Path) -> Iterator[IO[str]]:
    """A file beside the target, which takes its place at the end; it goes where that is not reached."""
    made = target.with_name(f".ctxgc-{secrets.token_hex(8)}")
    try:
        with made.open("x", encoding="utf-8") as out:
            yield out
        if target.exists():
            made.chmod(target.stat().st_mode)
        made.replace(target)
    finally:
        with suppress(OSError):
            made.unlink()
