"""The terminal application under Textual's pilot: keys, and what is shown after them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from ctxgc.tui.watching import Look

from .documents import HOSTILE, row, session


def looks(*made: Look):
    """A source of looks: each is shown once, the last from then on. It remembers whom it was asked for."""
    asked: list[str] = []

    def look(chosen: str) -> Look:
        asked.append(chosen)
        found = made[min(len(asked), len(made)) - 1]
        wanted = next((one for one in found.sessions if one["id"] == chosen), None)
        return replace(found, session=session(int(chosen[:2], 16))) if wanted else found

    return look, asked


async def settled(pilot) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def shown(app, name: str) -> str:
    return str(app.query_one(f"#{name}").render())


def listed(app) -> list[str]:
    found = app.query_one("#sessions")
    return [str(found.get_cell_at((at, 0))).strip() for at in range(found.row_count)]


def application(look, **more):
    from ctxgc.tui.app import TopApp

    return TopApp(look, every=3600.0, **more)


@pytest.mark.parametrize("width", [80, 160])
async def test_the_application_shows_the_list_and_the_newest_session(width):
    look, _ = looks(Look([row(2), row(1)], session(2)))
    app = application(look)
    async with app.run_test(size=(width, 40)) as pilot:
        await settled(pilot)
        assert listed(app) == ["02" * 6, "01" * 6]
        assert "2 sessions, by last" in shown(app, "heading")
        assert "Session 020202020202" in shown(app, "detail")
        assert max(map(cell_len, shown(app, "detail").splitlines())) <= width - 2


async def test_arrows_choose_another_session_and_it_stays_chosen():
    look, asked = looks(Look([row(3), row(2), row(1)], session(3)))
    app = application(look)
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("down")
        await settled(pilot)
        assert asked[-1] == "02" * 32
        assert "Session 020202020202" in shown(app, "detail")
        app.refresh_look()
        await settled(pilot)
        assert asked[-1] == "02" * 32
        assert app.query_one("#sessions").cursor_row == 1


async def test_what_is_new_is_shown_and_the_cursor_stays_on_its_session():
    look, asked = looks(Look([row(1)], session(1)), Look([row(1)], session(1)), Look([row(7), row(1)], session(1)))
    app = application(look, chosen="01" * 32)
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        assert len(listed(app)) == 1
        while len(asked) < 3:
            app.refresh_look()
            await settled(pilot)
        assert listed(app) == ["07" * 6, "01" * 6]
        assert app.query_one("#sessions").cursor_row == 1
        assert asked[-1] == "01" * 32


async def test_keys_sort_help_hide_the_list_and_quit():
    look, _ = looks(Look([row(2, window=10**9), row(1)], session(2)))
    app = application(look)
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("s")
        assert "by window" in shown(app, "heading")
        assert listed(app) == ["01" * 6, "02" * 6]
        await pilot.press("question_mark")
        assert "leave" in shown(app, "detail")
        await pilot.press("escape")
        assert "leave" not in shown(app, "detail")
        await pilot.press("escape")
        assert "leave" not in shown(app, "detail")
        await pilot.press("question_mark")
        assert max(map(len, shown(app, "detail").splitlines())) <= 98
        await pilot.press("question_mark")
        assert "leave" not in shown(app, "detail")
        await pilot.press("enter")
        assert not app.query_one("#sessions").display
        assert app.focused.id == "below"
        await pilot.press("enter")
        assert app.query_one("#sessions").display
        await pilot.press("q")
    assert app.return_code == 0


async def test_hostile_text_is_text_in_the_application_too():
    hostile = session(1, models=[HOSTILE], by_site=[{"name": HOSTILE, "sent_turns": 2, "resident": 1}])
    app = application(lambda _: Look([row(1, model=HOSTILE)], hostile, ""))
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot)
        assert "[bold]a[/bold]\ufffd[31m" in shown(app, "detail")
        assert "\x1b" not in shown(app, "detail")


async def test_a_store_that_fails_is_said_and_what_was_known_stays():
    look, _ = looks(Look([row(1)], session(1), "the disk is gone"))
    app = application(look)
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        assert "the disk is gone" in shown(app, "heading")
        assert listed(app) == ["01" * 6]
