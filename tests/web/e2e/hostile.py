"""Two hundred texts that try to be more than text, and how each must be shown."""

from __future__ import annotations

import re

MARK = "window.__pwned"
"""What runs, if anything does, sets this."""

_TEMPLATES = (
    "<script>{x}</script>", "</script><script>{x}</script>", "<img src=x onerror={x}>", "<svg onload={x}>",
    "<svg><script>{x}</script></svg>", "<iframe srcdoc='<script>parent.{x}</script>'></iframe>", "<body onload={x}>",
    "<details open ontoggle={x}>x</details>", "<input autofocus onfocus={x}>", "<video><source onerror={x}></video>",
    "<a href=\"javascript:{x}\">open</a>", "<math><mi xlink:href=\"javascript:{x}\">x</mi></math>",
    "<object data=\"javascript:{x}\"></object>", "<embed src=\"javascript:{x}\">",
    "<style>@import 'http://ctxgc.invalid/'</style>",
    "<link rel=stylesheet href=http://ctxgc.invalid/>", "<meta http-equiv=refresh content='0;url=http://ctxgc.invalid/'>",
    "<base href=http://ctxgc.invalid/>", "<form action=http://ctxgc.invalid/><button autofocus>",
    "<!-- <b>{x}", "--><b>{x}",
    "{{{{ {x} }}}} ${{{x}}} <%= {x} %> #{{{x}}}", "[click](javascript:{x}) ![x](http://ctxgc.invalid/x.png)",
    "\"}}]}}</script><script>{x}</script>", "\\\"; {x}; //", "'; {x}; '", "` + ({x}) + `",
    "&lt;img src=x onerror={x}&gt;",
    "\u2028{x}\u2029", "\x00\x01\x07\x08\x1b{x}\x7f", "\x1b[31mred\x1b]8;;http://ctxgc.invalid/\x07{x}\x1b]8;;\x07",
    "\u202eevil\u202c \u2066{x}\u2069 \u200f", "zero\u200bwidth\u200d\ufeff{x}\u00ad", "tag\U000e0041\U000e0042{x}",
    "z" + "\u0301" * 300 + "{x}", "W" * 3000 + "{x}", "lone \ud800 {x} \udfff", "__proto__ constructor toString {x}",
    "line\r\nline\ttab\x0b{x}\x0c", "on\u00a0\u3164{x}\u115f",
)  # fmt: skip
PAYLOADS: tuple[str, ...] = tuple(
    template.format(x=f"{MARK}={40 * round_ + at + 1}") for round_ in range(5) for at, template in enumerate(_TEMPLATES)
)

_SHAPELESS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u115f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\U000e0000-\U000e0fff]"
)


def shown(text: str) -> str:
    """A text as the page shows it: what has no shape has a sign, and what no JSON can carry is U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _SHAPELESS.sub(lambda found: _sign(ord(found[0])), whole)


def _sign(code: int) -> str:
    return chr(0x2400 + code) if code < 32 else "␡" if code == 127 else f"⟨U+{code:04X}⟩"
