"""What of an answer is held back, however it is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxgc.proxy.relay import Hold
from tests.proxy.upstream import DONE, event, finish, pieces

sayings = st.lists(
    st.sampled_from(
        [event("hello"), event("data: [DONE]\n\n"), b": [DONE]\n", b"data: [DON", b"\r\n\r\n", finish(), b"x"]
    )
).map(b"".join)
ends = st.sampled_from([DONE, b"data:[DONE]", b"data: [DONE]\r\n\r\n: bye\n\n"])
sizes = st.integers(1, 40)


@given(sayings, ends, sizes)
def test_of_a_stream_nothing_goes_out_that_would_tell_its_end(said, end, size):
    hold, cut, out = Hold(stream=True), pieces(said + b"\n" + end, size), b""
    while not hold.at_end:
        out += hold.take(next(cut))
    assert out.startswith(said)
    assert b"\ndata: [DONE]" not in out[len(said) :].replace(b"data:[", b"data: [")
    assert out + hold.let_go() + b"".join(map(hold.take, cut)) == said + b"\n" + end


def test_what_comes_in_one_piece_with_the_end_is_not_held_with_it():
    hold = Hold(stream=True)
    assert hold.take(event("hello") + DONE) == event("hello")
    assert hold.let_go() == DONE


@given(sayings, sizes)
def test_of_a_stream_without_an_end_nothing_is_held(said, size):
    hold = Hold(stream=True)
    assert b"".join(hold.take(piece) for piece in pieces(said, size)) == said
    assert not hold.at_end


@given(sayings, sizes)
def test_of_a_whole_answer_the_last_piece_is_held(said, size):
    hold = Hold(stream=False)
    cut = list(pieces(said, size))
    assert [hold.take(piece) for piece in cut] == [b"", *cut[:-1]][: len(cut)]
    assert not hold.at_end
    assert hold.let_go() == (cut[-1] if cut else b"")


def test_an_end_at_the_very_beginning_is_held():
    hold = Hold(stream=True)
    assert hold.take(DONE) == b""
    assert hold.at_end
