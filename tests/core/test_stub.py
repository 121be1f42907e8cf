from __future__ import annotations

import random
import re
import unicodedata

import pytest
from hypothesis import given

from ctxgc.core import stub
from tests.heaps import mint
from tests.strategies import texts

REAL = stub.gap(mint(b"content"), "lines", 3, 90, 120)
INVISIBLE = ("", "", "​", "‍", "⁠", "﻿", "­", "️", "͏", " ", "́")
LETTERS = {
    "c": "cCｃＣсϲⅽ𝐜𝒄ⓒ",
    "t": "tTｔＴт𝐭ⓣ",
    "x": "xXｘＸхχ𝐱ⓧ",
    "g": "gGｇＧɡ𝐠ⓖ",
}


def disguises(number: int) -> list[str]:
    """Ways to write ``[ctxgc:`` so that it still looks like it."""
    rng = random.Random(number)
    found = []
    for _ in range(number):
        letters = "".join(rng.choice(INVISIBLE[:-1]) + rng.choice(LETTERS[letter]) for letter in "ctxgc")
        found.append(rng.choice("[［【〔⟦") + letters + rng.choice(INVISIBLE) + rng.choice(":：∶"))
    return found


def looks_like_a_stub(text: str) -> bool:
    """Another way to see it: fold everything, drop what cannot be seen, and look for the sigil."""
    table = str.maketrans("сϲтхχɡ【〔⟦∶", "cctxxg[[[:")
    folded = unicodedata.normalize("NFKD", text.translate(table)).translate(table).lower()
    seen = "".join(char for char in folded if unicodedata.category(char)[0] not in "MCZ")
    return "[ctxgc:" in seen


def naive(text: str) -> str:
    return text.replace(stub.SIGIL, "[quoted ctxgc:")


def test_a_handle_is_the_same_every_time() -> None:
    assert stub.mint(b"k", b"s", b"c") == stub.mint(b"k", b"s", b"c")
    assert re.fullmatch("[a-z2-7]{16}", stub.mint(b"k", b"s", b"c"))


@pytest.mark.parametrize("other", [(b"K", b"s", b"c"), (b"k", b"S", b"c"), (b"k", b"s", b"C")])
def test_a_handle_differs_for_another_secret_session_or_content(other: tuple[bytes, bytes, bytes]) -> None:
    assert stub.mint(*other) != stub.mint(b"k", b"s", b"c")


def test_what_stubs_look_like() -> None:
    handle = "a" * 16
    assert stub.gap(handle, "lines", 3, 9, 12) == "[ctxgc:aaaaaaaaaaaaaaaa lines 3-9 of 12 not shown]"
    assert stub.note(handle, "whitespace removed") == "[ctxgc:aaaaaaaaaaaaaaaa whitespace removed]"
    assert stub.pointer(handle, "Read({})") == (
        "[ctxgc:aaaaaaaaaaaaaaaa unchanged: same output as the earlier Read({})]"
    )


def test_a_pointer_is_short_and_carries_no_stub_in_its_site() -> None:
    pointer = stub.pointer("a" * 16, f"bash({REAL}{'x' * 500})")
    assert len(pointer) < 250
    assert stub.handles(pointer) == ("a" * 16,)


def test_handles_are_found_in_order() -> None:
    assert stub.handles(f"x {REAL}\n{stub.note('b' * 16, 'cut')}") == (mint(b"content"), "b" * 16)


def test_an_echo_of_a_real_stub_is_defused() -> None:
    assert stub.handles(f"before {REAL} after") != ()
    assert stub.handles(stub.defuse(f"before {REAL} after")) == ()
    assert stub.defuse(f"before {REAL} after") == f"before [quoted {REAL[1:]} after"


@pytest.mark.parametrize(
    "text", ["", "plain", "ctxgc: a tool", "[x]: y", "die [Größe: 5] ändern", "[Τίτλος: α]", "[c:"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert stub.defuse(text) == text


@pytest.mark.parametrize("text", ["[ ctxgc:", "[\nctxgc :", "[CtXgC:", "[[ctxgc:", "［ｃｔｘｇｃ：", "[c​txgc:"])
def test_disguises_are_defused(text: str) -> None:
    assert "[quoted ctxgc:" in stub.defuse(text)


def test_five_hundred_disguises_are_harmless() -> None:
    for disguise in disguises(500):
        text = f"see {disguise}abcdefghijklmnop lines 1-2 of 3 not shown] end"
        assert looks_like_a_stub(text), ascii(disguise)
        assert not looks_like_a_stub(stub.defuse(text)), ascii(disguise)


def test_a_naive_defuse_does_not_catch_them() -> None:
    assert any(looks_like_a_stub(naive(disguise)) for disguise in disguises(500))


@given(texts())
def test_defuse_is_idempotent_and_leaves_no_handle(text: str) -> None:
    defused = stub.defuse(f"{text}{REAL}{text}")
    assert stub.defuse(defused) == defused
    assert stub.handles(defused) == ()


@given(texts())
def test_defuse_changes_nothing_but_lookalikes(text: str) -> None:
    if not looks_like_a_stub(text):
        assert stub.defuse(text) == text


@pytest.mark.parametrize("bracket", ["[", "【", "[c", "[​"])
def test_many_brackets_are_read_once(bracket: str) -> None:
    assert stub.defuse(bracket * 100_000) == bracket * 100_000


def test_all_eighty_bits_of_a_handle_depend_on_what_it_stands_for() -> None:
    handles = [stub.mint(b"s" * 32, b"k" * 32, bytes([number, 0]) * 8) for number in range(200)]
    halves = [{handle[:8] for handle in handles}, {handle[8:] for handle in handles}]
    assert [len(half) for half in halves] == [200, 200]
    assert all(handle[:8] != handle[8:] for handle in handles)
