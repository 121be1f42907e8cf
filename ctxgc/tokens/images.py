"""What an image costs in tokens, by its size, the detail asked for, and the model.

Rule: published rules where there are some, the general one elsewhere; always an answer, always positive.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Protocol

from .models import bare_name

UNKNOWN = (1024, 1024)
"""Size assumed for an image whose own is not known (a URL, a file id)."""


class ImageRule(Protocol):
    """How one family of models counts images."""

    def tokens(self, width: int, height: int, detail: str) -> int:
        """Tokens of an image of this size in pixels; `detail` is low, high, original or auto."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """OpenAI's tile rule: fit into 2048 px, shortest side to at most 768 px, then 512 px tiles."""

    base: int
    tile: int

    def tokens(self, width: int, height: int, detail: str) -> int:
        """`base` at low detail, else `base` plus `tile` for each 512 px tile."""
        if detail == "low":
            return self.base
        scale = min(1.0, 2048 / max(width, height), 768 / min(width, height))
        across, down = (max(1, math.floor(side * scale)) for side in (width, height))
        return self.base + self.tile * math.ceil(across / 512) * math.ceil(down / 512)


@dataclass(frozen=True, slots=True)
class Patches:
    """OpenAI's patch rule: 32 px patches, shrunk to a budget, times a multiplier."""

    multiplier: float
    budget: int = 1536
    original: int | None = None
    """The budget at detail "original"; None where that means the same as high."""
    auto_is_original: bool = False

    def tokens(self, width: int, height: int, detail: str) -> int:
        """Patches within the budget of `detail`, times the multiplier, rounded up."""
        full = detail == "original" or (detail == "auto" and self.auto_is_original)
        budget = self.original if full and self.original is not None else self.budget
        return math.ceil(_patches(width, height, budget) * self.multiplier)


@dataclass(frozen=True, slots=True)
class Claude:
    """Anthropic's rule: 28 px patches of an image fitted to a longest edge and a number of tokens."""

    edge: int
    budget: int

    def tokens(self, width: int, height: int, detail: str) -> int:
        """The patches at the largest size that fits; `detail` is not a notion of this API."""
        long, short = max(width, height), min(width, height)
        sizes = range(1, min(long, self.edge) + 1)
        largest = bisect_right(sizes, self.budget, key=lambda side: _claude_patches(side, short / long))
        return _claude_patches(max(largest, 1), short / long)


@dataclass(frozen=True, slots=True)
class Area:
    """The general rule: an image is resized to 1568 px and costs width * height / 750, at most 1600 tokens.

    Anthropic's rule of thumb for Claude 3 and 4, here for every model that publishes no rule.
    """

    def tokens(self, width: int, height: int, detail: str) -> int:
        """Tokens by area; at least 1."""
        scale = min(1.0, 1568 / max(width, height))
        return max(1, min(1600, math.ceil(width * scale * height * scale / 750)))


def image_tokens(model: str, width: int | None, height: int | None, detail: str | None = None) -> int:
    """Input tokens of one image for `model`.

    Sizes are in pixels; where one is unknown or not positive, the image counts as 1024 by 1024. `detail` is low,
    high, original or auto; anything else, and None, is auto.
    """
    known = width is not None and height is not None and width > 0 and height > 0
    across, down = (width, height) if known and width and height else UNKNOWN
    return rule_for(model).tokens(across, down, (detail or "auto").lower())


def rule_for(model: str) -> ImageRule:
    """The rule `model` counts images by."""
    name = bare_name(model)
    if "claude" in name:
        return _claude(name)
    for pattern, rule in RULES:
        if re.match(pattern, name):
            return rule
    return Area()


# The first pattern that matches the beginning of a bare model name decides. Tiles, patches and their budgets are
# those of OpenAI's page "Images and vision: calculating costs"; the multipliers of gpt-5-mini, gpt-5-nano and of
# gpt-5.2 and later are those users measured against the API (community.openai.com/t/1377015), which are lower than
# the page's 1.62 and 2.46.
RULES: tuple[tuple[str, ImageRule], ...] = (
    (r"gpt-4o-mini", Tiles(2833, 5667)),
    (r"gpt-4\.1-mini", Patches(1.62)),
    (r"gpt-4\.1-nano", Patches(2.46)),
    (r"gpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-|gpt-4$|chatgpt-4o", Tiles(85, 170)),
    (r"o4-mini|codex-mini", Patches(1.72)),
    (r"o\d", Tiles(75, 150)),
    (r"computer-use", Tiles(65, 129)),
    (r"gpt-5(?:\.1)?(?:-codex)?-mini", Patches(1.2)),
    (r"gpt-5-nano", Patches(1.5)),
    (r"gpt-5(?:\.1)?(?:-|$)", Tiles(70, 140)),
    (r"gpt-5\.[23]", Patches(1.2)),
    (r"gpt-5\.4", Patches(1.2, 2500, 10_000)),
    (r"gpt-5\.5", Patches(1.2, 2500, 10_000, auto_is_original=True)),
    (r"gpt-5\.\d|gpt-[6-9]", Patches(1.2, 2500, 65_536, auto_is_original=True)),
)


def _claude(name: str) -> Claude:
    """Claude 4.7 and later see images at up to 2576 px and 4,784 tokens, earlier ones at 1568 px and 1,568.

    Source: Anthropic's page "Vision", as the litellm package carries it. Reported bills agree up to 1920 by 1080.
    """
    version = re.search(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?", name)
    sharp = version is not None and (int(version[1]), int(version[2] or 0)) >= (4, 7)
    return Claude(2576, 4784) if sharp else Claude(1568, 1568)


def _claude_patches(long: int, ratio: float) -> int:
    return math.ceil(long / 28) * math.ceil(max(round(long * ratio), 1) / 28)


def _patches(width: int, height: int, budget: int) -> int:
    """32 px patches of an image, after it is shrunk so that whole patches fit into the budget."""
    patches = math.ceil(width / 32) * math.ceil(height / 32)
    if patches <= budget:
        return patches
    shrink = math.sqrt(32 * 32 * budget / (width * height))
    across, down = (max(side * shrink / 32, 1.0) for side in (width, height))
    shrink = min(math.floor(across) / across, math.floor(down) / down)
    return min(budget, math.ceil(round(across * shrink, 6)) * math.ceil(round(down * shrink, 6)))
