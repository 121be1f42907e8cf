"""The page as one file: it needs nothing else, loads nothing, and holds content only where that was asked for."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

import pytest

from ctxgc.assemble import make_kit
from ctxgc.core.journal import Allocation, Collection, Settlement, decode
from ctxgc.core.pacer import Pacer
from ctxgc.core.state import fold
from ctxgc.ledger import open_ledger
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import Store, open_store
from ctxgc.web import report
from ctxgc.web.redacting import LEFT_OUT, Redacting
from ctxgc.web.report import policy_of, write_report
from tests.lab.build import agent, body, call, result, system, tool, user
from tests.proxy.bodies import LISTING

SECRET = "the-secret-file-name"
EVIL = "</script><script>alert(1)</script><!-- <b>\u2028\x00\x1b[31m"
KEY = b"\xaa" * 32


def talk(store: Store, key: bytes = KEY) -> None:
    """A session with a long result under a telling path, and text that would break out of its element."""
    session = Session(key, b"s" * 32, "prefix", make_kit(store, preset("generational")))
    history = [system("be brief"), user(f"read it {EVIL}")]
    for number in range(3):
        told = LISTING + f"{SECRET} {number} {EVIL}"
        history += [call("read", str(number), path=f"{SECRET}/{number % 2}{EVIL}"), result(str(number), told)]
        session.prepare(body(history, [tool("read")], "gpt-5"))
    session.prepare(body([*history, agent("done"), user("thanks")], [tool("read")], "gpt-5"))
    session.flush()


CONFIGURED: Mapping[str, Any] = {"pacer": Pacer(quality=700), "ledger": "team"}


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store("sqlite://")
    talk(opened)
    ledger = open_ledger(opened, f"session {KEY.hex()}")
    voucher = ledger.vault.store(ref=f"{SECRET}.txt", content=f"{SECRET} 12 passed {EVIL}")
    ledger.post(f"{SECRET}: 12 pass", [ledger.verify(voucher, "12 passed")])
    yield opened
    opened.close()


def written(store: Store, *keys: bytes, content: bool = False, pacer: Pacer | None = None, ledger: str = "") -> str:
    out = io.StringIO()
    write_report(store, keys or (KEY,), out, content=content, pacer=pacer, ledger=ledger)
    return out.getvalue()


class _Page(HTMLParser):
    """What a browser would find: elements with their attributes, and what stands in scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self._open = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag in ("script", "style")
        if self._open:
            self.inside.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, attrs, text = self.inside.pop()
            self.inside.append((tag, attrs, text + data))


def documents(html: str) -> dict[str, Any]:
    (text,) = [data for _, attrs, data in _Page(html).inside if attrs.get("id") == "documents"]
    return dict(json.loads(text))


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, one in value.items():
                yield name
                yield from strings(one)
        case list():
            for one in value:
                yield from strings(one)


@pytest.mark.parametrize("content", [False, True])
def test_it_loads_nothing(store: Store, content: bool) -> None:
    page = _Page(written(store, content=content))
    assert not [attrs for _, attrs in page.elements if "src" in attrs]
    assert {attrs["href"] for _, attrs in page.elements if "href" in attrs} <= {"data:,"}
    assert not [tag for tag, _ in page.elements if tag in ("iframe", "object", "embed", "base", "form", "img")]


def _policy(html: str) -> dict[str, list[str]]:
    (policy,) = [a["content"] for _, a in _Page(html).elements if a.get("http-equiv") == "content-security-policy"]
    assert policy
    return {name: rest.split() for name, _, rest in (part.strip().partition(" ") for part in policy.split(";"))}


def test_its_policy_allows_exactly_its_own_scripts_and_styles(store: Store) -> None:
    html = written(store, content=True)
    policy, page = _policy(html), _Page(html)
    assert policy["default-src"] == ["'none'"]
    assert "unsafe" not in str(policy)
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        texts = [data for name, attrs, data in page.inside if name == tag and "type" not in attrs]
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert policy[directive] == [f"'sha256-{one}'" for one in hashes]
    assert html.index("content-security-policy") < html.index("<style>")


def test_the_policy_comes_before_all_that_it_is_about(store: Store) -> None:
    html = written(store)
    assert html.index("content-security-policy") < html.index("<script")


def test_no_text_gets_out_of_its_element(store: Store) -> None:
    html = written(store, content=True)
    clean = written(store)
    count = lambda text: len(re.findall(r"<script|</script|<!--", text, re.IGNORECASE))  # noqa: E731
    assert count(html) == count(clean)
    assert "alert(1)" in html
    assert any(EVIL in one for one in strings(documents(html)))


def test_the_check_notices_one_that_does(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_inline", lambda value: json.dumps(value))
    html = written(store, content=True)
    assert len(re.findall("</script", html)) > len(re.findall("<script src", report._page()[0])) + 1
    with pytest.raises((ValueError, AssertionError)):
        documents(html)


def test_it_holds_what_the_page_asks_for(store: Store) -> None:
    found = documents(written(store))
    path = f"sessions/{KEY.hex()}"
    assert {"sessions", path, f"{path}/cells", f"{path}/books"} <= found.keys()
    assert [line["id"] for line in found["sessions"]["sessions"]] == [KEY.hex()]
    turns = {made["turn"] for made in found[path]["collections"]}
    assert {name for name in found if "diff" in name} == {f"{path}/diff?turn={turn}" for turn in turns}
    assert found[path]["actions"] == {"pin": False, "recall": False, "milestone": False}
    assert found[path]["live"] is False


def test_it_shows_the_marks_and_the_ledger_that_are_configured(store: Store) -> None:
    open_ledger(store, "team").claim("said by all")
    usual, other = (documents(written(store, content=True, **options)) for options in ({}, CONFIGURED))
    path = f"sessions/{KEY.hex()}"
    assert (usual[path]["quality"], other[path]["quality"]) == (0, 700)
    statements = [[fact["statement"] for fact in found[f"{path}/books"]["facts"]] for found in (usual, other)]
    assert statements == [[f"{SECRET}: 12 pass"], ["said by all"]]


def test_without_content_nothing_of_it_is_there(store: Store) -> None:
    html = written(store)
    for text in (SECRET, "12 passed", "12 pass", "line 7 of", "alert(1)", "be brief", "thanks", EVIL):
        assert text not in html
    books = documents(html)[f"sessions/{KEY.hex()}/books"]
    assert [fact["statement"] for fact in books["facts"]] == [LEFT_OUT]


@pytest.mark.parametrize("content", [True, False])
def test_a_tool_that_the_last_reply_makes_up_is_named_only_with_content(content: bool) -> None:
    with contextlib.closing(open_store("sqlite://")) as store:
        session = Session(KEY, b"s" * 32, "prefix", make_kit(store, preset("observe")))
        asked = session.prepare(body([user("go")], [tool("read")], "gpt-5"))
        message = {"index": 0, "message": call(f"{SECRET} now", "1"), "finish_reason": "tool_calls"}
        reply = json.dumps({"choices": [message]}).encode()
        session.settle(Settlement(at=1.0, call=asked.call, outcome="ok", status=200), reply)
        session.flush()
        html = written(store, content=content)
        (made_up,) = (one for one in documents(html)[f"sessions/{KEY.hex()}"]["tools"] if one["calls"])
        assert (made_up["name"] == f"{SECRET} now") is content
        assert (SECRET in html) is content


def test_with_content_it_is(store: Store) -> None:
    found = documents(written(store, content=True))
    texts = "\n".join(strings(found))
    for text in (SECRET, "12 pass", "line 7 of", "be brief"):
        assert text in texts


def test_sites_stay_recognisable_and_tell_nothing(store: Store) -> None:
    cells = documents(written(store))[f"sessions/{KEY.hex()}/cells"]
    sites = [site for site in cells["sites"] if site.startswith("read(")]
    assert len(set(sites)) == len(sites) == 2
    assert all(re.fullmatch(r"read\(#[0-9a-f]{8}\)", site) for site in sites)
    other = Redacting(b"another secret of another store").__call__
    entries = [decode(one.body) for one in store.entries(KEY)]
    sites_of = lambda redact: {cell.site for cell in fold(map(redact, entries)).cells}  # noqa: E731
    assert sites_of(other).isdisjoint(sites)


def test_figures_are_the_same_without_content(store: Store) -> None:
    entries = [decode(one.body) for one in store.entries(KEY)]
    redact = Redacting(store.secret)
    one, other = fold(entries), fold(map(redact, entries))
    assert [(c.tag, c.tokens, c.sent, c.pinned) for c in one.cells] == [
        (c.tag, c.tokens, c.sent, c.pinned) for c in other.cells
    ]
    assert any(isinstance(entry, Collection) for entry in entries)
    assert all(edit.text == "" for e in map(redact, entries) if isinstance(e, Collection) for edit in e.edits)
    assert all(e.before == e.after == () for e in map(redact, entries) if isinstance(e, Allocation))


def test_many_sessions_are_in_one_file_the_newest_first(store: Store) -> None:
    talk(store, b"\xab" * 32)
    found = documents(written(store, KEY, b"\xab" * 32))
    lines = found["sessions"]["sessions"]
    assert {line["id"] for line in lines} == {KEY.hex(), "ab" * 32}
    assert [line["last"] for line in lines] == sorted((line["last"] for line in lines), reverse=True)


def test_details_of_a_long_session_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "WORK", 0)
    monkeypatch.setattr(report, "CELLS", 2)
    monkeypatch.setattr(report, "LEAST", 2)
    found = documents(written(store))
    assert len([name for name in found if "/cells/" in name]) == 2
    assert len([name for name in found if "diff" in name]) <= 2


def test_a_script_that_would_end_its_element_is_not_inlined() -> None:
    for text in ("a</script>b", "<!-- x", "<SCRIPT src=x>", "</style>"):
        with pytest.raises(ValueError, match="cannot be inlined"):
            report._harmless(text)


def test_a_policy_names_each_text_by_its_hash() -> None:
    assert "script-src 'sha256-" in policy_of(["a"], ["b"])
    assert policy_of(["a"], ["b"]) != policy_of(["c"], ["b"])
