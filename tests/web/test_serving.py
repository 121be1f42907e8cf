"""The page alone: the session that will be looked at is read before anybody asks."""

from __future__ import annotations

import msgspec

from ctxgc.web import serving
from ctxgc.web.frames import Answer, Asked, refusal


class Desk:
    """Notes what is asked, and gives the same answer to all of it."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.paths = answer, list[str]()

    def begin(self) -> None:
        pass

    async def ask(self, asked: Asked) -> Answer:
        self.paths.append(asked.path)
        return self.answer

    async def close(self) -> None:
        pass


def listing(*ids: str) -> Answer:
    return Answer(200, msgspec.json.encode({"sessions": [{"id": one, "calls": 3} for one in ids]}))


async def test_the_newest_session_is_read_ahead() -> None:
    desk = Desk(listing("ab", "cd"))
    await serving._ahead(desk)
    assert desk.paths == ["sessions", "sessions/ab"]


async def test_where_there_is_none_nothing_more_is_asked() -> None:
    for answer in (listing(), refusal(503, "no store")):
        desk = Desk(answer)
        await serving._ahead(desk)
        assert desk.paths == ["sessions"]
