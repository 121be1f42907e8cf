"""Live files: where a voucher's ``ref`` leads, and what stands there now.

Rule: only regular files are read, never more than `LIMIT` bytes of one; nothing is ever waited for, or written.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

LIMIT = 64 * 1024 * 1024
"""Bytes up to which a live file is compared."""
_PREFIX = "file:"


@dataclass(frozen=True, slots=True)
class Live:
    """A file as it is now, or why (``fault``, in plain words) it cannot be read."""

    path: Path
    content: bytes = b""
    fault: str = ""


def locate(ref: str, root: str) -> Path:
    """The path that a ref names: a path, or one behind ``file:``; relative to ``root`` where it is not absolute."""
    path = ref.removeprefix(_PREFIX) if ref.startswith(_PREFIX) else ref
    if path.startswith("//") and ref.startswith(_PREFIX):
        path = path[2:]  # a URL with an empty host
    return Path(root) / path


def exists(ref: str, root: str) -> bool:
    """Whether a regular file stands where a ref leads."""
    try:
        return stat.S_ISREG(locate(ref, root).stat().st_mode)
    except (OSError, ValueError):
        return False


def read(ref: str, root: str) -> Live:
    """The file where a ref leads. Never raises: what cannot be read, or is too large to be compared, is a fault."""
    path = locate(ref, root)
    try:
        content = _content(path) if stat.S_ISREG(path.stat().st_mode) else None
    except FileNotFoundError:
        return Live(path, fault="is gone")
    except (OSError, ValueError) as error:  # no rights, a null byte in the name, lone surrogates
        return Live(path, fault=f"cannot be read ({type(error).__name__})")
    if content is None:
        return Live(path, fault="is no regular file")
    if len(content) > LIMIT:
        return Live(path, fault=f"is larger than {LIMIT >> 20} MB and cannot be compared")
    return Live(path, content)


def _content(path: Path) -> bytes | None:
    """Up to one byte more than `LIMIT`; None for what is no regular file by now, or has to be waited for like none."""
    with open(path, "rb", opener=_at_once) as file:
        return file.read(LIMIT + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def _at_once(path: str, flags: int) -> int:
    """Open without waiting: for whoever writes into a pipe, or for what a file of the system has to say next."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
