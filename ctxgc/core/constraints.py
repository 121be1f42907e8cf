"""Constraints: which sentences of what a user writes bind the agent beyond the moment, as spans of the text.

Rule: only what the user says in prose can bind. Code, logs, quotes, tables and pasted output are data: they are never
read, whatever they say. Where it is not clear that a sentence addresses behaviour, it does not bind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ctxgc.core.constraint_words import TONGUES, Tongue
from ctxgc.core.constraint_words_more import MORE

LONGEST = 2_000
"""Characters of the longest sentence that is read; a longer one is data, not speech."""

_WIDE = 50
"""Characters from which on a line may have been wrapped, so that the next one continues its sentence."""

_LINE = re.compile(r"[^\r\n\x85\u2028\u2029]+")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)$")
_OPENED = re.compile(
    r"\s*<([\w-]*(?:std(?:out|err)|output|result|logs?|trace|caveat|code|pre|diff|error|snippet|example|quote|document"
    r"|file)[\w-]*)\b[^>]{0,200}>"
)
_CLOSED = re.compile(r"</([\w-]{1,80})>")
_MARKER = re.compile(
    r"\s*(?:[-+*•·‣◦▪●○■□–—→►➤✓✔✗❌⚠\ufe0f]{1,3}\s*(?<![-+*])|[-*+]\s+|-(?=[^\W\d])|\(?\d{1,3}[.)、．](?!\d)"
    r"|\(?[a-zA-Z][.)]\s|#{1,6}\s|[（(]?[一二三四五六七八九十]{1,3}[、)）])\s*(?:\[[ xX]?\]\s*)?"
)
_FOREIGN = re.compile(
    r"\s*(?:>|\||│|@@ |diff --git |\+(?![\s+])|\+\+\+ |--- \S|[{}]|\[\s*[\"{\[\d]|\"[\w-]+\"\s*:|//|/\*|\*/|<!--|-- "
    r"|\.\.\. |\$ |❯|>>>|\w+@[\w-]+[:~]|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:"
    r"|\[?(?:ERROR|WARN|INFO|DEBUG|TRACE|FATAL)\b|\[[A-Z]{4,10}\]|Traceback \(|File \"|at [\w.$<>/]+ ?\(|Caused by:"
    r"|E\s{2,}|[\w.]{0,80}(?:Error|Exception|Warning)\b[:(]|(?:error|warning|fatal|remote|err|panic)(?:\[\w+\])?:"
    r"|npm (?:ERR!|warn|WARN)|[\w./\\-]{1,200}:\d+(?::\d+)?:|[\w.\[\]]{1,80}\s*[+-]?:?=\s*\S|@\w+(?:\(|\s*$))"
)
_CODE = re.compile(
    r"\s*(?:def|class|import|from|return|if|for|while|elif|else|try|except|with|const|let|var|function|public|private"
    r"|static|func|fn|SELECT|INSERT|UPDATE|DELETE|CREATE|assert|raise|throw|async|export|package|struct|interface)\b"
)
_HIDDEN = re.compile(
    r"`[^`]+`|\"[^\"]+\"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|「[^「」]+」|『[^『』]+』"
    r"|(?<!\w)'[^'\s][^']*'(?!\w)|(?<!\w)‘[^‘’]+’(?!\w)"
)
_TOKEN = re.compile(r"(?<![!-~])[!-~]++")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "\t": " ", "\r": " ", "\n": " ", "\u2028": " ", "\u2029": " "})
_STOP = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*]*+(?=[\s\u3000-\uffef]|$)|[。！？；．]++[」』”’）)]*+|[;؛۔।॥؟](?=\s|$)"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|ca|mr|mrs|dr|z\.\s?b|d\.\s?h|bzw|ggf|usw|inkl|evtl|p\.\s?ex"
    r"|por\s?ej|p\.\s?ej|ej|т\.\s?[екд]|т\.\s?п|fig|no|nr|sec|max|min|vgl|min|e\.\s?g)\.$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_LITERAL = re.compile(r"[^\W\d_A-Z]{2,}")
_STEMS = (2, 3, 4)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the you and are for that this from any all to in on of it is be as at me my by or so we do an if up go"
        " then what will can thre four five six ten one two new de la le en un es di il lo os as se si"
        " ne au em ma da du et ou que les los las des der die das ich",
    )
)
"""Beginnings of words too common to tell anything; no pattern rests on one of them alone."""

_ESCAPE = re.compile(r"\\.|<.>")
_NULS = re.compile(r"\0+")
_ASKS = re.compile(r"[?？؟]\W{0,4}$")
_REQUESTS = re.compile(
    r"\W{0,8}(?:\w{2,6},? ){0,3}?(?:can|could|would|will) you (?:\w+ ){0,3}(?:make sure|ensure|always|never|not|only"
    r"|avoid|keep|stop|use|refrain|ask|leave|stick|remember)\b",
    re.IGNORECASE,
)
_LOGGED = re.compile(
    r"\b(?:error|exception|err|failed|fatal|failure|stderr|erreur|fehler|erro|errore|ошибка|エラー|错误|오류) ?[:：]",
    re.IGNORECASE,
)
_HEADS = re.compile(
    r"(?:^|[\s*])(?:(?:hard|house|ground|project|my|our|the|some) )?(?:rules|constraints|requirements|guidelines"
    r"|conventions|preferences|don'?ts|limits|规则|规范|约束|要求|限制|ルール|制約|규칙|제약|правила|ограничения|regeln|vorgaben"
    r"|règles|contraintes|consignes|reglas|restricciones|regras|restrições|regole|vincoli|kurallar|القواعد|नियम)"
    r" ?[:：]$",
    re.IGNORECASE,
)
_BEGIN = r"(?:^[^\w\0]{0,8}|[,:;()!–—，、：；（！،؛] ?| - )"
_VALUE = (
    r"(?:(?<![\w\0])(?:\0|[\w.:@+-]{0,40}\d|\w{1,40}[-.:@]\w|(?-i:[A-Z][a-z]{1,20}[A-Z]|[A-Z]{2,20}\b))"
    r"|(?<=[^\x00-\x7f])(?:\0|[\w.:@+-]{0,20}\d))"
)


@dataclass(frozen=True, slots=True)
class _Speech:
    """A language, compiled: what binds, what only looks like it, and what reports or asks."""

    cue: re.Pattern[str]
    idle: re.Pattern[str]
    told: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or list item of prose, ``[start, end)`` of the text. ``item``: it is one of a list."""

    start: int
    end: int
    item: bool


def binding(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a user's ``text`` that state a constraint or a lasting preference, in order.

    Half-open spans ``[start, end)`` in characters, without list markers and surrounding whitespace; they do not
    overlap. Sentences end at punctuation (of any of the scripts), list items and paragraphs. The items of a list bind
    where the line that leads into it does ("Never do these:"). Takes any str; time grows linearly with its length.
    """
    return tuple(_binding(text))


def _binding(text: str) -> Iterator[tuple[int, int]]:
    led = False
    for block in _blocks(text):
        masked = _masked(text[block.start : block.end])
        bound = led and block.item
        led = bound
        for start, end in _sentences(masked):
            if bound or _binds(masked[start:end]):
                yield block.start + start, block.start + end
                led = led or (end == len(masked) and masked[start:end].rstrip("*")[-1:] in (":", "："))
        led = led or _HEADS.search(masked[-LONGEST:].rstrip("*")) is not None


def _blocks(text: str) -> Iterator[_Block]:
    """The paragraphs and list items of prose: lines that were only wrapped are put together again."""
    last: _Block | None = None
    for start, end in _prose(text):
        marker = _MARKER.match(text, start, end)
        if last is not None and not marker and _continues(text, last, start):
            last = _Block(last.start, end, last.item)
            continue
        if last is not None:
            yield last
        last = _Block(marker.end() if marker else start, end, marker is not None)
    if last is not None:
        yield last


def _continues(text: str, block: _Block, start: int) -> bool:
    line = max(text.rfind("\n", block.start, block.end) + 1, block.start)
    whole = text[block.end : start].strip(" \t") in ("\n", "\r\n")
    return whole and block.end - line >= _WIDE and text[block.end - 1] not in ".!?:;。！？；：…।؟"


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """The lines, without surrounding whitespace, that are prose of the writer's own."""
    closing = {found[1]: found.start() for found in _CLOSED.finditer(text)} if "</" in text else {}
    fence, hidden_until, listed = "", 0, False
    for line in _LINE.finditer(text):
        body = line[0]
        mark = _FENCE.match(body) if "```" in body or "~~~" in body else None
        if fence or mark:
            fence = _fenced(fence, mark)
            continue
        opened = _OPENED.match(body) if closing else None
        if opened and closing.get(opened[1], -1) > line.start():
            hidden_until = max(hidden_until, closing[opened[1]])
        if line.start() < hidden_until or not (stripped := body.strip()):
            continue
        indented = body.startswith(("    ", "\t"))
        listed = _MARKER.match(body) is not None and (listed or not indented)
        if (indented and not listed) or _foreign(body, stripped):
            continue
        start = line.start() + body.index(stripped[0])
        yield start, start + len(stripped)


def _fenced(fence: str, mark: re.Match[str] | None) -> str:
    """The fence that is open behind a line: the one that was, or the ``mark`` of the line, or none."""
    if not fence:
        return mark[1] if mark else ""
    closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
    return "" if closes else fence


def _foreign(body: str, stripped: str) -> bool:
    """Whether a line looks like a quote, a log, a trace, a table or code."""
    if _FOREIGN.match(body):
        return True
    code = stripped[-1] in ";{}" or stripped.endswith(("):", "=", ");"))
    return code and (_CODE.match(body) is not None or any(sign in stripped for sign in "=()"))


def _masked(block: str) -> str:
    """``block`` at the same offsets, with quotes, code, paths and URLs as NULs, and line ends as spaces."""
    plain = _HIDDEN.sub(lambda found: "\0" * len(found[0]), block)
    return _TOKEN.sub(_opaque, plain).translate(_PLAIN)


def _opaque(found: re.Match[str]) -> str:
    token = found[0]
    if not any(sign in token for sign in "/\\_=@"):
        return token
    if token.strip("_*").isalpha():
        return token.replace("_", " ")
    kept = token.rstrip(".,;:!?)")
    return "\0" * len(kept) + token[len(kept) :]


def _sentences(masked: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in _STOP.finditer(masked):
        if masked[stop.start()] == "." and _abbreviated(masked, stop.start()):
            continue
        yield from _trimmed(masked, start, stop.end())
        start = stop.end()
    yield from _trimmed(masked, start, len(masked))


def _abbreviated(masked: str, dot: int) -> bool:
    found = _ABBREVIATION.search(masked, max(0, dot - 10), dot + 1)
    follows = masked[dot + 1 : dot + 3].lstrip()
    return found is not None and follows != "" and not follows[0].isupper()


def _trimmed(masked: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = masked[start:end]
    stripped = piece.strip()
    if stripped:
        first = start + piece.index(stripped[0])
        yield first, first + len(stripped)


def _binds(sentence: str) -> bool:
    """Whether one masked sentence binds in any of the languages."""
    if len(sentence) > LONGEST or _LOGGED.search(sentence):
        return False
    if _ASKS.search(sentence) and not _REQUESTS.match(sentence):
        return False
    spoken = " ".join(_NULS.sub("\0", sentence).replace("*", " ").split())
    stems = {word[:length].lower() for word in _WORD.findall(spoken) for length in _STEMS}
    return any(_heard(tongue, spoken, stems) and _commands(_speech(tongue), spoken) for tongue in (*TONGUES, *MORE))


def _heard(tongue: Tongue, spoken: str, stems: set[str]) -> bool:
    """Whether a sentence may be of this language: a cheap look, so that few patterns are held against each."""
    if tongue.letters:
        return re.search(tongue.letters, spoken, re.IGNORECASE) is not None
    return not stems.isdisjoint(_stems(tongue))


def _commands(speech: _Speech, spoken: str) -> bool:
    if speech.cue.search(spoken) is None or speech.told.search(spoken):
        return False
    return speech.cue.search(speech.idle.sub("~", spoken)) is not None


@cache
def _stems(tongue: Tongue) -> frozenset[str]:
    """How words begin that are in the patterns: one of them is in what binds in this language."""
    cues = _ESCAPE.sub(" ", f"{tongue.opening} {tongue.words} {tongue.cue}")
    return frozenset(word[: _STEMS[-1]] for word in _LITERAL.findall(cues)) - _COMMON


@cache
def _speech(tongue: Tongue) -> _Speech:
    """The language, compiled when the first sentence is heard that can be of it."""
    opening = f"<S>(?:{tongue.opening})" if tongue.opening else ""
    words = rf"\b(?:{tongue.words})" if tongue.words else ""
    cue = "|".join(filter(None, (opening, words, tongue.cue)))
    return _Speech(*(_compiled(tongue, pattern) for pattern in (cue, tongue.idle, tongue.told)))


def _compiled(tongue: Tongue, pattern: str) -> re.Pattern[str]:
    fill = f"(?:(?:{tongue.fill})[,:]? ){{0,4}}" if tongue.fill else ""
    for part, stands_for in (("<S>", _BEGIN + fill), ("<V>", f"(?:{tongue.verbs})"), ("<N>", _VALUE)):
        pattern = pattern.replace(part, stands_for)
    return re.compile("".join(line.removeprefix("    ") for line in pattern.splitlines()), re.IGNORECASE)
