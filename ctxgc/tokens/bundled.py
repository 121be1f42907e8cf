"""Data files that the litellm package carries, found without importing litellm.

Rule: files are only read; never written, deleted or fetched from a network.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


class TokenDataUnavailable(Exception):
    """A rank file or price table is missing or damaged; the message says what to do."""


def bundled_file(*parts: str) -> Path:
    """Path of a file inside the installed litellm package.

    Raises `TokenDataUnavailable` when litellm, or that file in it, is not installed.
    """
    path = package_folder().joinpath(*parts)
    if not path.is_file():
        raise TokenDataUnavailable(f"{path} is missing: reinstall litellm")
    return path


def package_folder() -> Path:
    """The folder litellm is installed in, or `TokenDataUnavailable`."""
    spec = find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise TokenDataUnavailable("litellm is not installed: pip install litellm")
    return Path(places[0])


def read_data(path: Path) -> bytes:
    """The bytes of `path`, or `TokenDataUnavailable` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TokenDataUnavailable(f"{path} cannot be read ({error.strerror}): reinstall litellm") from error
