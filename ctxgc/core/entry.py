"""What every entry of a log is made from, whatever it says.

Rule: an entry is never changed. New fields get defaults, so that later versions can fold the logs of earlier ones.
"""

import msgspec


class Entry(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    """What all entries have. ``at`` is Unix time in seconds and advisory: order is the log's."""

    at: float
