"""Where a transcript is split, and when its requests were made."""

from ctxgc.core.journal import Usage
from ctxgc.lab.replay import steps
from ctxgc.lab.segments import PACE, STARTED, segments

from .build import agent, call, result, system, user
from .recordings import transcript

LONG = [system(), user("a"), agent("b"), user("c"), agent("d"), user("summary"), agent("e"), user("f")]


def test_a_transcript_without_compactions_is_one_segment():
    (one,) = segments(transcript(LONG))
    assert one.name == "t"
    assert [(turn.received, turn.replies, turn.answer) for turn in one.turns] == [
        (2, 0, 2),
        (4, 1, 4),
        (6, 2, 6),
        (8, 3, None),
    ]


def test_behind_a_compaction_a_segment_has_the_system_prompt_and_what_follows():
    first, second = segments(transcript(LONG, compactions=(5,)))
    assert (first.name, second.name) == ("t", "t#2")
    assert first.transcript.roles == ("system", "user", "assistant", "user", "assistant")
    assert second.transcript.messages == transcript([LONG[0], *LONG[5:]]).messages


def test_what_was_said_before_a_compaction_and_never_answered_makes_no_request():
    first, _ = segments(transcript(LONG, compactions=(4,)))
    assert first.transcript.roles[-1] == "assistant"
    assert len(first.turns) == 1


def test_usage_goes_with_its_message():
    usage = Usage(uncached=7)
    _, second = segments(transcript(LONG, compactions=(5,), usage=((2, Usage()), (6, usage))))
    assert second.transcript.usage == ((2, usage),)


def test_a_stretch_without_a_request_is_no_segment():
    assert len(segments(transcript([user("a"), agent("b"), agent("c")], compactions=(2,)))) == 1


def test_every_request_of_the_replay_has_a_turn():
    odd = [agent("hello"), user("hi"), agent("x"), agent("y"), call("read", "1"), result("1", "z")]
    for messages in (LONG, LONG[:-1], odd, odd[:-1]):
        for segment in segments(transcript(messages)):
            assert [turn.answer for turn in segment.turns] == [step.answer for step in steps(segment.transcript)]


def test_the_clock_is_the_recorded_one_and_never_goes_back():
    times = (None, None, 100.0, None, 50.0, None, 900.0, None)
    (one,) = segments(transcript(LONG, times=times))
    assert [turn.at for turn in one.turns] == [100.0, 100.0, 900.0, 900.0 + PACE]


def test_without_times_requests_come_at_a_steady_pace():
    (one,) = segments(transcript(LONG))
    assert [turn.at for turn in one.turns] == [STARTED + PACE * number for number in range(4)]
