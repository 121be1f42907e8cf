"""Running the demo: the same session straight to the model and through the proxy, and what came of both.

Rule: figures come from what the model received and billed, and from the store as it is read back, not from the proxy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxgc.config import Config
from ctxgc.core.journal import Usage
from ctxgc.core.policy import Policy
from ctxgc.demo.agent import DemoFailed, Message, play_session
from ctxgc.demo.model import ScriptedModel
from ctxgc.demo.scenario import coding_session
from ctxgc.demo.script import Scenario
from ctxgc.policies import from_config
from ctxgc.proxy.server import running
from ctxgc.web.serving import listen


@dataclass(frozen=True, slots=True)
class Played:
    """A session that was played: its history, the bodies the model received, and what it billed for each."""

    history: tuple[Message, ...]
    bodies: tuple[bytes, ...]
    usages: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class Runs:
    """Both runs of one scenario, and the store that the proxy left."""

    model: str
    policy: str
    without: Played
    through: Played
    store: str


async def run_demo(
    model: str, store: str, progress: Callable[[], None] = lambda: None, scenario: Scenario | None = None
) -> Runs:
    """Play a scenario (by default the coding session) twice, with the proxy's store at the URL ``store``.

    ``progress`` is called after each turn of each run. Raises ``DemoFailed``, ``StoreError``.
    """
    played = scenario or coding_session()
    async with ScriptedModel(played, model) as upstream:
        history = await play_session(upstream.base_url, played, model, progress)
        without = _played(upstream, history)
    async with ScriptedModel(played, model) as upstream:
        config = Config(upstream=upstream.base_url, store=store, port=0)
        history = await _through_proxy(config, from_config(config.policy), played, model, progress)
        through = _played(upstream, history)
    if without.history != through.history:
        raise DemoFailed("the agent got other answers through the proxy than without it")
    return Runs(model, config.policy, without, through, store)


async def _through_proxy(
    config: Config, policies: Sequence[Policy], scenario: Scenario, model: str, progress: Callable[[], None]
) -> list[Message]:
    listener = listen(config.host, config.port)
    base = f"http://{config.host}:{listener.getsockname()[1]}/v1"
    async with running(config, policies, listener) as serving:
        playing = asyncio.create_task(play_session(base, scenario, model, progress))
        try:
            await asyncio.wait({playing, serving}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                raise DemoFailed("stopped")
            return playing.result()
        finally:
            playing.cancel()


def _played(model: ScriptedModel, history: Sequence[Message]) -> Played:
    return Played(tuple(history), tuple(model.requests), tuple(model.usages))
