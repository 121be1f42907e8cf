"""tiktoken encodings built from rank files on disk.

Rule: tiktoken supplies the pattern, the special tokens and the pinned sha256; the ranks come from a local
file that has that sha256. Nothing is written, fetched or set in the environment.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from hashlib import sha1, sha256
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from .bundled import TokenDataUnavailable, package_folder, read_data

if TYPE_CHECKING:
    from tiktoken import Encoding

LOADER = "load_tiktoken_bpe"  # the one name through which tiktoken's constructors reach for a rank file


def rank_folder() -> Path:
    """Where litellm keeps the rank files, each named by the sha1 of its address as tiktoken's cache does."""
    return package_folder() / "litellm_core_utils" / "tokenizers"


def load_encoding(name: str, folder: Path | None = None) -> Encoding:
    """The tiktoken encoding `name` ("o200k_base", "cl100k_base"), from the rank files in `folder`.

    Raises `TokenDataUnavailable` when the file is missing or is not the one tiktoken pins, or when the
    installed tiktoken builds its encodings in a way not known here.
    """
    from tiktoken import Encoding

    ranks = RankFiles(folder or rank_folder())
    return Encoding(**_parameters(name, ranks))


class RankFiles:
    """A stand-in for tiktoken's own loader that reads one folder and nothing else."""

    __slots__ = ("_folder",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, address: str, expected_hash: str | None = None) -> dict[bytes, int]:
        """Ranks by token bytes, from the file that tiktoken would have cached for `address`."""
        path = self._folder / sha1(address.encode(), usedforsecurity=False).hexdigest()
        data = read_data(path)
        if expected_hash is None or sha256(data).hexdigest() != expected_hash:
            raise TokenDataUnavailable(f"{path} is not the rank file tiktoken pins: reinstall litellm")
        return _parse(data, path)


def _parse(data: bytes, path: Path) -> dict[bytes, int]:
    try:
        pairs = (line.split() for line in data.splitlines() if line)
        return {b64decode(token): int(rank) for token, rank in pairs}
    except (ValueError, Base64Error) as error:
        raise TokenDataUnavailable(f"{path} is not a rank file: {error}") from error


class _Parameters(TypedDict):
    name: str
    pat_str: str
    mergeable_ranks: dict[bytes, int]
    special_tokens: dict[str, int]
    explicit_n_vocab: NotRequired[int]


def _parameters(name: str, ranks: RankFiles) -> _Parameters:
    """Run tiktoken's constructor of `name` with its loader replaced, in a copy: the original is untouched."""
    constructor = getattr(import_module("tiktoken_ext.openai_public"), name, None)
    if not isinstance(constructor, FunctionType) or LOADER not in constructor.__code__.co_names:
        raise TokenDataUnavailable(f"tiktoken has no constructor for {name} that is known here")
    offline = FunctionType(constructor.__code__, {**constructor.__globals__, LOADER: ranks})
    return cast("_Parameters", offline())
