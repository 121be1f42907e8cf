"""The real litellm in a real child process, against a server on the loopback that answers well or badly."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ctxgc.summarise import SCHEMA, Ask, Job, Said, litellm_asker, prompt, summarise
from ctxgc.summarise.breaker import TAKEN
from ctxgc.summarise.completing import _line
from tests.chat_server import ChatServer, calls, chat_server, text
from tests.summarise.spans import GOOD, SPAN, count

KEY = "sk-hidden-4711"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def ask(url: str, **more: object) -> Ask:
    given = {"max_tokens": 500, "api_base": url, "api_key": KEY, **more}
    return Ask("openai/x", prompt(SPAN, ()), SCHEMA, **given)  # type: ignore[arg-type]


def test_a_span_is_summarised_through_litellm(server: ChatServer) -> None:
    server.replies = [text(GOOD)]
    job = Job("openai/x", SPAN, count, -1, 4, 5.0, share=0.9, api_base=server.url, api_key=KEY)
    (found,) = summarise(job, litellm_asker())
    assert (found.outcome, len(found.items), found.input, found.output) == (TAKEN, 2, 120, 7)
    body = server.bodies[0]
    assert body["messages"] == list(prompt(SPAN, ()))
    assert body["response_format"]["json_schema"]["schema"] == json.loads(json.dumps(SCHEMA))
    assert body["temperature"] == 0
    assert "litellm" not in sys.modules


def test_a_provider_that_refuses_schemas_is_asked_for_less(server: ChatServer) -> None:
    refusal = (400, {"message": "response_format is not supported", "type": "invalid_request_error"})
    server.replies = [refusal, refusal, refusal, text(GOOD)]
    said = litellm_asker()(ask(server.url))
    assert (said.text, said.finish, said.error, said.calls) == (GOOD, "stop", "", False)
    assert [body.get("response_format", {}).get("type") for body in server.bodies] == [
        "json_schema",
        "json_schema",
        "json_object",
        None,
    ]
    server.replies = [calls("bash")]
    assert litellm_asker()(ask(server.url)).calls


def test_an_error_of_the_provider_is_one_line_without_the_key(server: ChatServer) -> None:
    server.replies = [(500, {"message": f"it broke\nwith {KEY} and Bearer abcdef", "type": "server_error"})]
    said = litellm_asker()(ask(server.url))
    assert said.text == ""
    assert "it broke" in said.error
    assert KEY not in said.error
    assert "abcdef" not in said.error
    assert "\n" not in said.error
    assert len(server.bodies) == 1  # what asking for less cannot mend is asked once


def test_a_server_that_never_answers_is_given_up_with_the_child() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = litellm_asker()(ask(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", timeout=1.0))
    assert said.error == "no answer within 1 seconds"


def script(folder: Path, source: str) -> str:
    """A program that stands for the interpreter."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\nimport os, sys\n{source}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "source",
    [
        "sys.exit(3)",
        "print('garbage')",
        "print('[1, 2')",
        "sys.stdout.buffer.write(bytes(range(256)))",
        "os.close(0); print('{}')",
        "os.kill(os.getpid(), 9)",
    ],
)
def test_a_child_that_misbehaves_is_an_error(tmp_path: Path, source: str) -> None:
    said = litellm_asker(script(tmp_path, source))(ask("", max_tokens=10))
    assert said.error.startswith("the summariser's process ")
    assert (said.text, said.finish) == ("", "error")


def test_an_interpreter_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    assert litellm_asker(str(tmp_path / "none"))(ask("")).error != ""


def test_the_key_is_in_neither_arguments_nor_environment_of_the_child(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    source = (
        f"open({str(seen)!r}, 'w').write(repr(sys.argv) + repr(dict(os.environ)) + '|' + sys.stdin.read())\n"
        'print(\'{"text": "x", "finish": "stop"}\')'
    )
    assert litellm_asker(script(tmp_path, source))(ask("")) == Said("x", "stop")
    outside, _, through_the_pipe = seen.read_text().partition("|{")
    assert KEY in through_the_pipe
    assert KEY not in outside


def test_the_child_is_gone_when_its_time_is_over(tmp_path: Path) -> None:
    seen = tmp_path / "pid"
    source = f"open({str(seen)!r}, 'w').write(str(os.getpid()))\nimport signal\nsignal.pause()"
    # Long enough for the program to begin; it would wait for ever.
    said = litellm_asker(script(tmp_path, source))(replace(ask(""), timeout=5.0))
    assert said.error == "no answer within 5 seconds"
    with pytest.raises(ProcessLookupError):
        os.kill(int(seen.read_text()), 0)


def test_keys_of_the_environment_are_taken_out_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse")
    line = _line(ValueError(f"bad key correct horse, {KEY}, sk-proj-abc*def, {'a1' * 30}\nx"), ask(""))
    assert line == "ValueError: bad key ***, ***, ***, *** x"


def test_what_the_process_has_begun_ends_with_it(tmp_path: Path) -> None:
    pipe, python = tmp_path / "pipe", tmp_path / "python"
    os.mkfifo(pipe)
    python.write_text(f"#!/bin/sh\nsleep 600 >{pipe} &\nsleep 600\n")
    python.chmod(0o755)
    reading = threading.Thread(target=pipe.read_bytes, daemon=True)  # ends when nobody can write any more
    reading.start()
    said = litellm_asker(str(python))(ask("http://localhost:1", timeout=1.0))
    assert said.error == "no answer within 1 seconds"
    reading.join(20)
    assert not reading.is_alive()
