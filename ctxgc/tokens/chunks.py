"""Cutting long text into pieces that can be tokenized one by one.

Rule: a cut is made where the pre-tokenizer of o200k_base and of cl100k_base always ends a match, so the counts
of the pieces add up to the count of the whole. Only a run of `LIMIT` characters with no such place is cut hard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LIMIT = 15_360
"""Longest piece in characters: at most 61 KB of UTF-8, about a millisecond of tokenizer time.

A multiple of 3 and of 1,024, so that hard cuts fall between the tokens of a run of digits or of one character.
"""

# ASCII, kana, the first block of Han and Hangul: letters in every version of Unicode a tokenizer may be built with.
_LETTER = r"A-Za-z\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
_MARK = r"!-&(-/:-@\[-`{-~、。，；：？！「」『』（）【】《》“”…—"

# Why each place is safe. Both patterns are alternations matched from left to right without looking back, so a
# place where no alternative can run on is a boundary whatever stands before it; and the only look-aheads, `(?!\S)`
# and `$`, are about whitespace, so the left part must end either in a non-space or in a newline (which the newline
# alternative takes first).
SAFE = re.compile(
    # A newline belongs to `\s*[\r\n]+` or to the tail of punctuation `[\r\n/]*`: whitespace or "/" may run on.
    r"(?<=\n)(?=[^\s/])"
    # A blank can only be the first character of a match that reaches a non-space, or lie in a run of whitespace.
    r"|(?<=\S)(?=[ \t])"
    # Letters and digits end at a mark, except at "'", which may begin a contraction such as 's or 'll.
    rf"|(?<=[{_LETTER}0-9])(?=[{_MARK}])"
    # Digits are grouped by three from the start of their run, which is why a run of them is never cut inside.
    r"|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)


def chunks(text: str, limit: int = LIMIT) -> Iterator[str]:
    """Yield `text` in order in pieces of at most `limit` characters.

    Exact wherever a boundary exists in each `limit` characters. A run without one (a megabyte of spaces, of one
    letter, of "=") is cut hard, and the sum is then off by at most two tokens for each hard cut (measured).
    """
    start = 0
    while len(text) - start > limit:
        end = _last_boundary(text, start, start + limit) or start + limit
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _last_boundary(text: str, start: int, end: int) -> int | None:
    """The last safe cut in (start, end]. Looks at the tail first: ordinary text has one every few characters."""
    for reach in (64, 1024, end - start):
        found = None
        # One character past the end is shown, so that a cut at the very end is seen as well.
        for match in SAFE.finditer(text, max(start + 1, end - reach), end + 1):
            if match.start() <= end:
                found = match.start()
        if found is not None:
            return found
    return None
