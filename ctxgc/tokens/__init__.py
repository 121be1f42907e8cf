"""Tokens: how many a text, image or tool has, what they cost, and how far our counts are off.

Rule: everything works offline, and importing this package loads no tokenizer, table or third-party library.
"""

from .bundled import TokenDataUnavailable
from .calibration import Calibration, ModelError
from .counter import Counter, TextCounter, counter_for
from .framing import MESSAGE_TOKENS, REPLY_TOKENS, TOOLS_TOKENS, count_tool_schema, message_overhead
from .images import image_tokens
from .prices import Price, PriceTable, Step

__all__ = [
    "MESSAGE_TOKENS",
    "REPLY_TOKENS",
    "TOOLS_TOKENS",
    "Calibration",
    "Counter",
    "ModelError",
    "Price",
    "PriceTable",
    "Step",
    "TextCounter",
    "TokenDataUnavailable",
    "count_tool_schema",
    "counter_for",
    "image_tokens",
    "message_overhead",
]
