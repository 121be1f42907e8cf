"""A scripted model: a real HTTP server on this machine that speaks chat completions and answers from a scenario.

Rule: which turn it answers with follows from the request alone (how often the assistant has spoken in it), and a
history that a provider would refuse is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from aiohttp import web

from ctxgc.core.journal import Usage
from ctxgc.demo import answers
from ctxgc.demo.billing import Biller, Json
from ctxgc.demo.script import Scenario

_LIMIT = 64 * 1024 * 1024


class ScriptedModel:
    """``async with ScriptedModel(scenario) as model``: then ``model.base_url`` is what to give to a client.

    It keeps the bodies of all completions it was asked for, as bytes (``requests``), with the headers they came with
    (``headers``) and what it billed for those it answered (``usages``).
    """

    def __init__(self, scenario: Scenario, name: str = "gpt-5") -> None:
        self.scenario = scenario
        self.name = name
        self.requests: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []
        self.usages: list[Usage] = []
        self._billers: dict[str, Biller] = {}
        self._runner: web.AppRunner | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """The base URL for clients, with ``/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_LIMIT)
        app.add_routes([web.get("/v1/models", self._models), web.post("/v1/chat/completions", self._complete)])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _models(self, request: web.Request) -> web.Response:
        row = {"id": self.name, "object": "model", "created": 1_741_680_000, "owned_by": "demo"}
        return web.json_response({"object": "list", "data": [row]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self.requests.append(raw)
        self.headers.append(dict(request.headers))
        body = _object(raw)
        messages = _messages(body)
        number = sum(message.get("role") == "assistant" for message in messages)
        fault = _fault(messages) or (number >= len(self.scenario.turns) and "the script is at its end")
        if fault:
            return web.json_response({"error": {"message": fault, "type": "invalid_request_error"}}, status=400)
        return await self._answer(request, body, number)

    async def _answer(self, request: web.Request, body: Json, number: int) -> web.StreamResponse:
        turn, model = self.scenario.turns[number], str(body.get("model") or self.name)
        usage = self._billers.setdefault(model, Biller(model)).usage(body, turn)
        self.usages.append(usage)
        if body.get("stream") is not True:
            return web.json_response(answers.whole(turn, number, model, usage))
        options = body.get("stream_options")
        asked = isinstance(options, Mapping) and options.get("include_usage") is True
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await response.prepare(request)
        for event in answers.stream(turn, number, model, usage if asked else None):
            await response.write(event)
        return response


def _object(raw: bytes) -> Json:
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _messages(body: Json) -> list[Json]:
    messages = body.get("messages")
    return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []


def _fault(messages: Sequence[Json]) -> str:
    """Why a provider would refuse a history: there is none, or calls and results do not pair up."""
    open_calls: set[object] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "a tool message must answer a call of the assistant message before it"
            open_calls.remove(message.get("tool_call_id"))
        elif open_calls:
            return "an assistant message with tool_calls must be followed by an answer to each"
        open_calls |= _calls(message)
    if open_calls:
        return "an assistant message with tool_calls must be followed by an answer to each"
    return "" if messages else "the body has no messages"


def _calls(message: Json) -> set[object]:
    calls = message.get("tool_calls")
    return {call.get("id") for call in calls if isinstance(call, dict)} if isinstance(calls, list) else set()
