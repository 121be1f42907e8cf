"""The terminal application: the sessions of a store above, the chosen one below, both kept up to date.

Rule: the store is read in a thread, one look at a time, so that keys are answered at once; nothing is interpreted as
markup.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from textwrap import fill
from types import MappingProxyType
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Footer, Static

from ctxgc.tui.detail import detail
from ctxgc.tui.sessions import COLUMNS, SORTS, cells, sorted_by
from ctxgc.tui.text import WIDE, Line, fit, many, printable
from ctxgc.tui.watching import Look

EVERY = 1.0
"""Seconds from one look to the next."""
LISTED = 200
"""Sessions that the list shows, the first by its order."""
HELP = (
    "ctxgc top shows each session of a store: what its newest request carried as the agent sent it (received) and as "
    "the model got it (sent), how much of the model's window that takes, and what collecting has brought, net of what "
    "it cost.",
    """\
  up, down    another session
  enter       only that session, and back
  s           sort by another column
  q           leave
  ?           this text, and back; so does escape""",
    "The letters of the bars are families of tags. The profiler page (ctxgc page) shows all of it, cell by cell.",
)
"""Paragraphs: those of one line are broken where the terminal ends."""
STYLES: Mapping[str, str] = MappingProxyType(
    {
        "title": "bold",
        "dim": "dim",
        "bad": "bold red",
        "system_prompt": "bright_black",
        "tool_schema": "white",
        "user_turn": "green",
        "agent_reply": "cyan",
        "agent_reasoning": "magenta",
        "tool_call": "blue",
        "tool_result": "yellow",
        "retrieval": "bright_yellow",
        "summary": "bright_magenta",
        "recall": "bright_cyan",
        "ledger": "bright_blue",
    }
)


class TopApp(App[None]):
    """See the module. ``look`` is given the id of the session to look into; it is called from a thread."""

    TITLE = "ctxgc top"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #heading { height: 1; text-style: bold; }
    #sessions { height: auto; max-height: 40%; }
    #below { height: 1fr; }
    #sessions.alone { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("s", "sort", "Sort"),
        Binding("enter", "alone", "Only this", priority=True),
        Binding("question_mark", "explain", "Help", key_display="?"),
        Binding("escape", "close", "Close help", show=False),
    ]

    def __init__(self, look: Callable[[str], Look], chosen: str = "", sort: str = "last", every: float = EVERY) -> None:
        super().__init__()
        self._look, self._chosen, self._sort, self._every = look, chosen, sort, every
        self._shown, self._busy, self._again, self._helps = Look(), False, False, False
        self._drawn: object = None

    def compose(self) -> ComposeResult:
        """Heading, list, session, keys."""
        yield Static(id="heading", markup=False)
        yield DataTable[Text](id="sessions", cursor_type="row", cell_padding=0)
        with VerticalScroll(id="below", can_focus=True):
            yield Static(id="detail", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin to look."""
        self.query_one("#sessions").focus()
        self.set_interval(self._every, self.refresh_look)
        self.refresh_look()

    def on_resize(self, _: events.Resize) -> None:
        """Draw anew: more columns, or fewer."""
        self._draw()

    def refresh_look(self) -> None:
        """Look, unless somebody does; then once more after that."""
        if self._busy:
            self._again = True
            return
        self._busy = True
        self.run_worker(self._looked(), exclusive=False)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """The cursor is on a session: look into it."""
        found = event.row_key.value
        if found and found != self._chosen:
            self._chosen = found
            self.refresh_look()

    def action_sort(self) -> None:
        """Sort by the next column."""
        names = list(SORTS)
        self._sort = names[(names.index(self._sort) + 1) % len(names)]
        self._draw()

    def action_alone(self) -> None:
        """Only the session, or the list again."""
        listed = self.query_one("#sessions")
        listed.toggle_class("alone")
        self.query_one("#below" if listed.has_class("alone") else "#sessions").focus()

    def action_explain(self) -> None:
        """Help in place of the session, or the session again."""
        self._helps = not self._helps
        self._draw()

    def action_close(self) -> None:
        """The session again in place of the help."""
        if self._helps:
            self.action_explain()

    async def _looked(self) -> None:
        try:
            self._shown = await asyncio.to_thread(self._look, self._chosen)
        finally:
            self._busy = False
        self._draw()
        if self._again:
            self._again = False
            self.refresh_look()

    def _draw(self) -> None:
        self.query_one("#heading", Static).update(Text(self._heading(), no_wrap=True, overflow="ellipsis"))
        self._draw_sessions(self.query_one("#sessions", DataTable))
        self.query_one("#detail", Static).update(self._detail())

    def _heading(self) -> str:
        if self._shown.error:
            return printable(f"ctxgc: {self._shown.error}")
        return f"ctxgc top: {many(len(self._shown.sessions), 'session')}, by {self._sort}"

    def _draw_sessions(self, table: DataTable[Text]) -> None:
        """Fill the list, and leave the cursor on the session that it was on."""
        wide = self.size.width >= WIDE
        rows = sorted_by(self._shown.sessions, self._sort)[:LISTED]
        shown = self._shown.session["id"] if self._shown.session else ""
        if self._drawn == (rows, wide):
            return
        self._drawn = rows, wide
        with self.prevent(DataTable.RowHighlighted):
            table.clear(columns=True)
            for column in COLUMNS:
                size = column.width(wide=wide)
                title = fit(column.title, size, right=column.right)
                table.add_column(Text(f"{title} "), width=size + 1 + wide, key=column.title)
            for row in rows:
                table.add_row(*(Text(cell) for cell in cells(row, wide=wide)), key=row["id"])
            wanted = self._chosen or shown
            at = next((at for at, row in enumerate(rows) if row["id"] == wanted), 0)
            table.move_cursor(row=at)

    def _detail(self) -> Text:
        width = max(self.size.width - 2, 20)
        rows = min(max(self.size.height - 28, 5), 20)
        if self._helps:
            return Text("\n\n".join(one if "\n" in one else fill(one, width) for one in HELP))
        if self._shown.session is None:
            return Text("" if self._shown.sessions else "no sessions yet")
        return Text("\n").join(_text(one) for one in detail(self._shown.session, width, rows=rows))


def _text(of: Line) -> Text:
    made = Text(no_wrap=True)
    for piece in of:
        made.append(piece.text, STYLES.get(piece.style, ""))
    return made
