"""The page's own files: what a strict policy and a reader without a network need of them, and their pure functions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

STATIC = Path(__file__).parents[2] / "ctxgc" / "web" / "static"
VENDOR = STATIC / "vendor"
INDEX = (STATIC / "index.html").read_text(encoding="utf-8")
OWN = sorted(path for path in STATIC.rglob("*.js") if path.parent != VENDOR)
BANNER = "*/\n"
ELSEWHERE = re.compile(r"""(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+|@import|\burl\((?!#)""", re.IGNORECASE)
REFUSED = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|javascript:|\bimport\(|"
    r"\bsetAttribute\(|createContextualFragment|\bXMLHttpRequest\b|\bWebSocket\b|\bsendBeacon\b"
)
ENDS_A_SCRIPT = re.compile(r"</script|<!--|<script", re.IGNORECASE)


class Tags(HTMLParser):
    """Every tag of a page, with its attributes and the text that follows it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag = self.found[-1][0] if self.found else ""
        self.texts[tag] = self.texts.get(tag, "") + data


def inline(source: str) -> Iterator[str]:
    """What of a page `default-src 'none'; script-src 'self'; style-src 'self'` would refuse."""
    tags = Tags(source)
    for tag, attributes in tags.found:
        yield from (f"{tag} {name}" for name in attributes if name.startswith("on") or name == "style")
        if tag == "style" or (tag == "script" and "src" not in attributes):
            yield tag
    yield from (f"text in {tag}" for tag in ("script", "style") if tags.texts.get(tag, "").strip())


def test_the_page_has_nothing_that_a_strict_policy_refuses() -> None:
    assert list(inline(INDEX)) == []


@pytest.mark.parametrize(
    "source",
    ["<script>1</script>", "<style>p {}</style>", '<p style="color: red">', '<p onclick="x()">', "<script >1</script>"],
)
def test_what_the_policy_refuses_would_be_found(source: str) -> None:
    assert list(inline(source))


def test_the_page_names_each_of_its_files_once_and_all_of_them() -> None:
    tags = Tags(INDEX).found
    named = [
        attributes.get("src") or attributes.get("href") or "" for tag, attributes in tags if tag in ("script", "link")
    ]
    named = [name for name in named if name != "data:,"]
    there = [path for pattern in ("*.js", "*.css") for path in STATIC.rglob(pattern)]
    assert sorted(named) == sorted(f"static/{path.relative_to(STATIC).as_posix()}" for path in there)


@pytest.mark.parametrize("path", [*OWN, STATIC / "app.css", STATIC / "index.html"], ids=lambda path: path.name)
def test_no_file_names_an_address_elsewhere(path: Path) -> None:
    text = re.sub(r"http://127\.0\.0\.1:\d+", "", path.read_text(encoding="utf-8"))
    assert ELSEWHERE.findall(text) == []


@pytest.mark.parametrize(
    "text", ["https://cdn.example.com/x.js", "//cdn.example.com", "@import 'x'", "url(x.png)", "src='//a.b'"]
)
def test_an_address_elsewhere_would_be_found(text: str) -> None:
    assert ELSEWHERE.search(text)


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_documents_become_text_and_never_markup(path: Path) -> None:
    assert REFUSED.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_a_script_can_stand_inside_a_page(path: Path) -> None:
    """A report has them inlined: nothing in them may look like their end."""
    assert not ENDS_A_SCRIPT.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_script_says_what_it_is_is_short_and_leaves_one_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0].startswith("// ")
    assert any(line.startswith("// Rule: ") for line in lines[:5])
    assert '"use strict";' in lines[:6]
    assert len(lines) < 300
    assert "})((window.ctxgc = window.ctxgc || {}));" in lines[-1]


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    return found


def changed(listed: dict[str, str], folder: Path) -> list[str]:
    """Names of files that are not as the manifest has them, or not in it."""
    there = {path.name for path in folder.iterdir()} - {"manifest.json"}
    same = {name for name in there if listed.get(name) == sha256((folder / name).read_bytes()).hexdigest()}
    return sorted((there | listed.keys()) - same)


def test_files_of_others_are_as_the_manifest_has_them() -> None:
    assert changed(manifest()["files"], VENDOR) == []


def test_a_changed_file_of_others_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1")
    assert changed({"a.js": sha256(b"2").hexdigest()}, tmp_path) == ["a.js"]
    assert changed({}, tmp_path) == ["a.js"]
    assert changed({"b.js": ""}, tmp_path) == ["a.js", "b.js"]


@pytest.mark.parametrize("package", manifest()["packages"], ids=lambda package: package["name"])
def test_code_of_others_is_what_they_published_and_carries_its_licence(package: dict[str, str]) -> None:
    banner, published = (VENDOR / package["file"]).read_text(encoding="utf-8").split(BANNER, 1)
    assert sha256(published.encode()).hexdigest() == package["upstream_sha256"]
    licence = (VENDOR / package["licence_file"]).read_text(encoding="utf-8")
    marks = {"MIT": "Permission is hereby granted, free of charge", "Apache-2.0": "Apache License"}
    assert marks[package["licence"]] in licence
    assert marks[package["licence"]] in banner


def run(files: list[str], expression: str) -> Any:
    """What an expression comes to after some of the page's scripts. Skips where there is no node."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("node is not installed")
        pytest.skip("node is not installed")
    scripts = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in files)
    program = f"globalThis.window = globalThis;\n{scripts}\nconsole.log(JSON.stringify({expression}));"
    done = subprocess.run([node, "-"], input=program, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


HIDDEN = ["\x00", "\x1b", "\x08", "\x7f", "\x9b", "\r", "\u202e", "\u2066", "\u200b", "\u200f", "\u2028", "\ufeff",
          "\u00ad", "\u061c", "\u3164", "\U000e0041", "\U000e0100", "\ud800", "\ufff9", "\u180e"]  # fmt: skip


def test_what_has_no_shape_is_shown_as_a_sign() -> None:
    literal = json.dumps([f"a{one}b" for one in HIDDEN])
    shown = run(["text.js"], f"{literal}.map((one) => [window.ctxgc.text.line(one), window.ctxgc.text.block(one)])")
    for one, (line, block) in zip(HIDDEN, shown, strict=True):
        assert one not in line + block, f"U+{ord(one):04X}"
        assert line[0] == "a"
        assert line[-1] == "b"
        assert len(line) > 2


def test_what_has_a_shape_stays() -> None:
    text = "Grüße, 世界 <b>&amp;</b> 🙂 \t x\n שלום"
    shown = run(
        ["text.js"], f"[window.ctxgc.text.block({json.dumps(text)}), window.ctxgc.text.line({json.dumps(text)})]"
    )
    assert shown == [text, text.replace("\n", "␊").replace("\t", "␉")]


@pytest.mark.parametrize(("text", "shown"), [("abc", "abc"), ("abcd", "abcd"), ("abcdef", "abc…"), ("ab🙂cd", "ab…")])
def test_a_long_text_is_cut_between_characters(text: str, shown: str) -> None:
    assert run(["text.js"], f"window.ctxgc.text.brief({json.dumps(text)}, 4)") == shown


def test_figures_read_as_people_write_them() -> None:
    money = "dollars(0.001234), dollars(-12.5), dollars(null)"
    calls = f"whole(1234567), whole(-5), whole(null), share(0.1234), {money}, round(12345)"
    shown = run(["text.js"], f"(({{ whole, share, dollars, round }}) => [{calls}])(window.ctxgc.text)")
    assert shown == ["1,234,567", "−5", "–", "12.3%", "$0.001234", "−$12.50", "–", "12.3k"]


def test_a_stack_of_series_ends_at_their_sum() -> None:
    edges = run(
        ["geometry.js"], "window.ctxgc.geometry.edges([[1, 2], [10, 20], undefined], 2).map((edge) => [...edge])"
    )
    assert edges == [[0, 0], [1, 2], [11, 22], [11, 22]]


def test_every_turn_is_a_point_of_its_path() -> None:
    program = """(({ edges, areas, turnScale }) => {
        const paths = areas(edges([new Array(5000).fill(3)], 5000), turnScale(5000, 0, 900), (value) => value);
        return paths.map((path) => path.split("L").length);
    })(window.ctxgc.geometry)"""
    assert run(["geometry.js"], program) == [2 * 5000]


@pytest.mark.parametrize(("most", "expected"), [(0, [0]), (1, [0, 1]), (85_130, [0, 25_000, 50_000, 75_000])])
def test_ticks_are_round(most: int, expected: list[int]) -> None:
    assert run(["geometry.js"], f"window.ctxgc.geometry.ticks({most})") == expected


def test_a_token_leaves_the_address() -> None:
    stubs = """globalThis.document = { getElementById: () => null };
    globalThis.location = { hash: "#token=abc_-1&/session/12/suspects", pathname: "/ctxgc/", search: "" };
    globalThis.sessionStorage = { getItem: () => "", setItem: (key, value) => { globalThis.held = value; } };
    globalThis.history = { replaceState: (_, __, url) => { globalThis.went = url; } };"""
    program = "(() => [globalThis.held, globalThis.went])()"
    scripts = (STATIC / "documents.js").read_text(encoding="utf-8")
    assert run([], f"(() => {{ {stubs} {scripts} return {program}; }})()") == ["abc_-1", "/ctxgc/#/session/12/suspects"]
