"""The form in which a history is told something: one that its provider takes, by all that the request holds."""

from __future__ import annotations

import pytest

from ctxgc.session import forms
from ctxgc.wire.openai_chat import OpenAIChat
from tests.session.scripts import agent, call, dump, memory, result, user
from tests.session.test_telling import ALPHA, BETA, post, telling, times

THOUGHT = {"reasoning_content": "which shelf?"}
SIGNED = {**THOUGHT, "thinking_blocks": [{"type": "thinking", "thinking": "which shelf?", "signature": "abc"}]}


def test_reasoning_that_comes_with_the_same_request_counts() -> None:
    with memory() as store:
        talk, ledger = telling(store, recall=True)
        post(ledger, ALPHA)
        talk.one()
        talk.messages += [agent("I look", call("t1"), **THOUGHT), result("t1", "a row")]
        post(ledger, BETA)
        sent = talk.send()
        assert BETA in sent[-1]["content"]
        assert sent[-2]["reasoning_content"] == " ", "DeepSeek insists on it in all calls"


def test_what_is_new_is_looked_at_like_what_is_known() -> None:
    with memory() as store:
        talk, _ = telling(store)
        read = OpenAIChat().decode
        thinks = [read(dump(agent("so", **THOUGHT)))]
        signs = [read(dump(agent("so", **SIGNED)))]
        state = talk.session.state
        assert forms.reasons(state, (), thinks)
        assert not forms.signed(state, (), thinks)
        assert forms.signed(state, (), signs)
        assert not forms.reasons(state, ())


@pytest.mark.parametrize(("model", "waits"), [("mistral-large", True), ("devstral-2", True), ("gpt-5", False)])
def test_no_word_of_the_users_stands_behind_a_result_where_that_is_refused(model: str, waits: bool) -> None:
    with memory() as store:
        talk, ledger = telling(store, recall=False, fields={"model": model})
        post(ledger, ALPHA)
        talk.one()
        assert (talk.sent[-1]["role"] == "tool") is waits
        assert times(talk, ALPHA) == (not waits)
        talk.answer("done", "and now?")
        assert times(talk, ALPHA) == 1, "it waits, and is not lost"
        assert talk.sent[-1]["role"] == "user"


def test_the_model_that_is_asked_now_decides_too() -> None:
    with memory() as store:
        talk, ledger = telling(store, recall=True)
        talk.one()
        post(ledger, ALPHA)
        talk.fields = {**talk.fields, "model": "gemini-3-pro"}
        talk.messages += [agent("done"), user("go on")]
        assert talk.send()[-1]["role"] == "user", "a call that Gemini has not signed would be refused"
