"""The child process: reads one question as JSON from standard input, and writes the answer as JSON to standard output.

Rule: standard output carries the answer and nothing else, whatever a library prints.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import msgspec

from ctxgc.summarise.asking import Ask, Said


def main() -> None:
    """Answer one question."""
    # Before litellm is imported: it would fetch its price list from the network, and it prints to standard output.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    out = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    answer = msgspec.json.encode(_answer(sys.stdin.buffer.read()))
    with os.fdopen(out, "wb") as pipe:
        pipe.write(answer)
    os._exit(0)  # threads of a library must not hold the answer back


def _answer(question: bytes) -> Said:
    from ctxgc.summarise.completing import complete

    try:
        said = complete(msgspec.json.decode(question, type=Ask))
    except msgspec.MsgspecError:
        return Said("", "error", error="the question cannot be read")
    return replace(said, text=_clean(said.text), error=_clean(said.error), model=_clean(said.model))


def _clean(text: str) -> str:
    """The text as UTF-8 can carry it."""
    return text.encode("utf-8", "replace").decode()


if __name__ == "__main__":
    main()
