from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.record import Original
from ctxgc.summarise import pieces
from ctxgc.summarise.pieces import tokens
from tests.summarise.spans import SPAN, call, count, result, user

FRAME = tokens((), count)


def story(sizes: list[int]) -> list[Original]:
    """Turns of a call and its result, of so many characters each."""
    found: list[Original] = [user(0, "Go on.")]
    for turn, size in enumerate(sizes, 1):
        found += [call(2 * turn - 1, "bash", "{}", turn), result(2 * turn, "bash", "{}", "z" * size, turn)]
    return found


def test_what_fits_is_one_piece() -> None:
    assert pieces(SPAN, count, 10**6) == [list(SPAN)]


def test_nothing_is_no_piece() -> None:
    assert pieces((), count, 10**6) == []


def test_pieces_end_between_turns() -> None:
    found = pieces(story([2000] * 12), count, FRAME + 1500)
    assert len(found) > 2
    turns = [{one.turn for one in piece} for piece in found]
    assert all(one.isdisjoint(other) for at, one in enumerate(turns) for other in turns[at + 1 :])


def test_one_original_larger_than_the_room_is_cut() -> None:
    found = pieces(story([20_000_000]), count, FRAME + 600)
    assert all(tokens(piece, count) <= FRAME + 600 for piece in found)
    assert " characters not shown " in found[-1][-1].text


def test_a_room_smaller_than_the_frame_still_gives_all_of_the_span_in_small_pieces() -> None:
    found = pieces(story([5000] * 3), count, 10)
    assert [one.cell for piece in found for one in piece] == list(range(7))
    assert all(len(one.text) < 200 for piece in found for one in piece)


@given(st.lists(st.integers(0, 9000), max_size=12), st.integers(400, 5000))
def test_every_prompt_fits_and_every_original_is_in_one_piece(sizes: list[int], room: int) -> None:
    span = story(sizes)
    found = pieces(span, count, FRAME + room)
    assert [one.cell for piece in found for one in piece] == [one.cell for one in span]
    assert all(tokens(piece, count) <= FRAME + room for piece in found)
