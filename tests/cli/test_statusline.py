"""One line about a session: figures of the journal, quickly, and never a failure."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ctxgc.cli import _stdin, statusline
from ctxgc.core.journal import Settlement, decode
from ctxgc.core.pacer import Pacer
from ctxgc.core.state import fold
from ctxgc.lab.gc_log import gc_log
from ctxgc.lab.glance import glance, turns_left
from ctxgc.store import open_store
from ctxgc.tokens import PriceTable
from ctxgc.tokens.tariffs import tariffs
from ctxgc.web.views import SessionView
from tests.lab.build import Same, recorded, wild
from tests.lab.collected import bodies, collecting_kit
from tests.lab.collected import run as run_session

KEY = b"\xcc" * 32
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def status_url(tmp_path_factory):
    """A store with the session of ``tests.lab.collected``, and one that began later and ended at once."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'status.db'}"
    store = open_store(url)
    run_session(collecting_kit(store, clock=lambda: 1_700_000_000.0), bodies(2), b"\xdd" * 32)
    run_session(collecting_kit(store), bodies(16), KEY)
    store.close()
    return url


def document(run, *argv):
    ran = run("statusline", "--json", *argv)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def read(url, key=KEY):
    store = open_store(url, read_only=True)
    entries = [decode(stored.body) for stored in store.entries(key)]
    store.close()
    return entries


def test_the_line_says_context_window_savings_and_turns(run, status_url):
    ran = run("statusline", "--store", status_url)
    assert (ran.code, ran.err) == (0, "")
    figures = (
        r"ctxgc [\d.]+k?/[\d.]+k \(\d+%\) \| [\d.]+k left out \(\d+%\) \| net [+-]\$[\d.]+( \| [\d,]+ turns left)?\n"
    )
    assert re.fullmatch(figures, ran.text), ran.text
    assert len(ran.text) <= 80


def test_the_figures_are_those_of_the_journal(run, status_url):
    found, entries = document(run, "--store", status_url), read(status_url)
    state, settled = fold(entries), [entry for entry in entries if isinstance(entry, Settlement)][-1]
    head = max(state.heads)
    assert found["session"] == KEY.hex()
    assert found["received"] == state.tokens(head, state.heads[head].toolset, sent=False)
    assert found["sent"] == state.tokens(head, state.heads[head].toolset, sent=True) == settled.estimated
    log = gc_log(entries, PriceTable.load().price, lambda _: 1024)
    assert (found["net"], found["usd"]) == (log.net, log.usd)
    assert found["share"] == found["sent"] / found["window"]


@pytest.mark.parametrize("key", [KEY, b"\xdd" * 32])
def test_the_page_says_the_same(run, status_url, key):
    line, price_of = document(run, "--store", status_url, "--session", key.hex()), PriceTable.load().price
    view = SessionView(key, price_of, tariffs(price_of), Pacer())
    for entry in read(status_url, key):
        view.take(entry)
    tiles = {tile["id"]: tile["value"] for tile in view.summary()["tiles"]}
    row = view.line()
    assert (line["sent"], line["net"], line["turns_left"]) == (
        tiles["context_now"],
        pytest.approx(tiles["net"]),
        pytest.approx(tiles["turns_left"]) if tiles["turns_left"] is not None else None,
    )
    assert [line[name] for name in ("sent", "received", "window", "usd")] == [
        row[name] for name in ("sent", "received", "window", "usd")
    ]


def test_what_is_read_of_a_long_journal_says_the_same_but_for_what_came(run, status_url, monkeypatch):
    whole = document(run, "--store", status_url)
    monkeypatch.setattr(statusline, "WHOLE", 10)
    monkeypatch.setattr(statusline, "TAIL", 20)
    end = document(run, "--store", status_url)
    assert end == {**whole, "received": None, "turns_left": end["turns_left"]}  # the growth of fewer requests


@pytest.mark.parametrize("seed", range(6))
def test_the_end_of_any_journal_gives_what_all_of_it_gives(seed):
    _, entries = recorded(wild(seed), Same())
    whole, end = glance(entries, whole=True), glance(entries[len(entries) // 3 :], whole=False)
    assert whole is not None
    assert end is not None
    assert (whole.sent, whole.model, whole.pace, whole.at) == (end.sent, end.model, end.pace, end.at)
    assert end.received is None


def test_a_session_is_the_one_active_last_unless_another_is_named(run, status_url):
    assert document(run, "--store", status_url)["session"] == KEY.hex()
    assert document(run, "--store", status_url, "--session", "dd")["session"] == "dd" * 32


def test_turns_left_follow_from_growth_and_window():
    assert turns_left([100, 200, 300], 1000) == 7
    assert turns_left([300, 300], 1000) is None
    assert turns_left([300, 200], 1000) is None
    assert turns_left([300, 100, 200], 1000) == 800 / (100 / 2)  # that it was made smaller is no growth
    assert turns_left([100, 200], 0) is None
    assert turns_left([100], 1000) is None
    assert turns_left([900, 1200], 1000) == 0
    assert turns_left([0, 300], 1000) == pytest.approx(7 / 3)


@pytest.mark.parametrize(
    "argv", [("--store", "sqlite:///none.db"), ("--store", "nonsense"), ("--session", "ffff"), ("--session", "")]
)
def test_where_there_is_nothing_to_show_it_says_so_and_succeeds(run, url, argv):
    ran = run("statusline", *(argv if "--store" in argv else (*argv, "--store", url)))
    assert (ran.code, ran.err, ran.out.count(b"\n")) == (0, "", 1)
    assert ran.text.startswith("ctxgc: ")
    found = document(run, *(argv if "--store" in argv else (*argv, "--store", url)))
    assert (found["schema"], found["session"]) == ("ctxgc.statusline/1", None)


def test_a_store_without_sessions_is_a_neutral_line(run, tmp_path):
    open_store(f"sqlite:///{tmp_path / 'empty.db'}").close()
    assert run("statusline", "--store", f"sqlite:///{tmp_path / 'empty.db'}").text == "ctxgc: no session yet\n"


def test_a_configuration_that_is_wrong_is_a_line_too(run, url, monkeypatch):
    monkeypatch.setenv("CTXGC_PORT", "many")
    ran = run("statusline", "--store", url)
    assert (ran.code, ran.err, ran.out.count(b"\n")) == (0, "", 1)


def test_a_model_without_a_window_has_no_share(run, tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'm.db'}")
    run_session(collecting_kit(store), [text.replace(b'"gpt-5"', b'"nobody"') for text in bodies(3)])
    store.close()
    found = document(run, "--store", f"sqlite:///{tmp_path / 'm.db'}")
    assert (found["window"], found["share"], found["turns_left"], found["usd"]) == (None, None, None, False)
    assert "%" not in run("statusline", "--store", f"sqlite:///{tmp_path / 'm.db'}").text.partition("|")[0]


def test_colours_are_for_who_asks_and_not_with_no_color(run, status_url, monkeypatch):
    assert "\x1b" not in run("statusline", "--store", status_url).text
    assert "\x1b[32m" in run("statusline", "--color", "--store", status_url).text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("statusline", "--color", "--store", status_url).text


def piped(url: str, data: bytes | None) -> bytes:
    """What a status line prints that is given ``data`` on stdin; None: a pipe that stays open and silent."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "ctxgc", "statusline", "--json", "--store", url]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as process:
        if data is not None:
            return process.communicate(data, timeout=60)[0]
        assert process.wait(60) == 0
        return process.stdout.read()


def test_a_pipe_on_which_nothing_comes_is_not_waited_for(status_url):
    assert json.loads(piped(status_url, None))["session"] == KEY.hex()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'{"session_id": 7, "model": []}', b"[" * 100_000])
def test_what_an_agent_says_is_ignored_where_it_is_no_use(data):
    assert _stdin.parse(data) == _stdin.Caller()


def test_an_agent_may_name_a_session_by_our_id(status_url):
    told = json.dumps({"session_id": "DD" * 8, "model": {"id": "gpt-5", "display_name": "x"}, "workspace": {}}).encode()
    assert _stdin.parse(told) == _stdin.Caller("dd" * 8, "gpt-5")
    named = json.loads(piped(status_url, told))
    assert (named["session"], named["matched"]) == ("dd" * 32, True)


def test_for_an_id_that_is_not_ours_the_newest_session_is_called_that(run, status_url, monkeypatch):
    assert document(run, "--store", status_url)["matched"] is None
    assert "newest" not in run("statusline", "--store", status_url).text
    stranger = _stdin.Caller("2f0c6d3e-0000-4000-8000-000000000000")
    monkeypatch.setattr(_stdin, "caller", lambda: stranger)
    found = document(run, "--store", status_url)
    assert (found["session"], found["matched"]) == (KEY.hex(), False)
    assert run("statusline", "--store", status_url).text.startswith("ctxgc newest session: ")


def pinned_later(store, *, then_asked=False):
    """Two sessions: the one that was at work first is pinned in, and perhaps is at work, when the other is done."""
    now = [1_700_000_000.0]
    first = run_session(collecting_kit(store, clock=lambda: now[0]), bodies(3), KEY)
    now[0] += 100
    run_session(collecting_kit(store, clock=lambda: now[0]), bodies(3), b"\xdd" * 32)
    now[0] += 100
    for pinned in (True, False) * 3:
        first.pin(len(first.state.cells) - 1, pinned)
    if then_asked:
        call = first.prepare(bodies(4)[-1]).call
        first.settle(Settlement(at=now[0], call=call, outcome="ok", status=200))
    first.flush()


@pytest.mark.parametrize(("then_asked", "newest"), [(False, "dd"), (True, "cc")])
@pytest.mark.parametrize("command", ["statusline", "sessions", "top"])
def test_a_session_that_was_only_pinned_in_is_not_the_one_active_last(run, tmp_path, command, then_asked, newest):
    url = f"sqlite:///{tmp_path / 'pinned.db'}"
    store = open_store(url)
    pinned_later(store, then_asked=then_asked)
    store.close()
    found = json.loads(run(command, "--json", "--store", url).out)
    first = found["session"] if command == "statusline" else found["sessions"][0]["id"]
    assert first == newest * 32


def test_it_imports_nothing_heavy(status_url):
    code = (
        "import sys; sys.argv = ['ctxgc', 'statusline', '--store', sys.argv[1]]\n"
        "from ctxgc.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*(name for name in ('litellm', 'tiktoken', 'textual', 'rich.table', 'aiohttp', 'ctxgc.assemble',"
        " 'ctxgc.session', 'ctxgc.web') if name in sys.modules), file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", code, status_url]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=60)
    assert done.stdout.startswith("ctxgc ")
    assert done.stderr.strip() == ""
