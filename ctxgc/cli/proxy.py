"""``ctxgc proxy``."""

from __future__ import annotations

import click


@click.command()
@click.option("--upstream", metavar="URL", help="Base URL of the model API, such as https://api.openai.com/v1.")
@click.option("--host", metavar="ADDRESS", help="Address to listen on [127.0.0.1].")
@click.option("--port", type=int, help="Port to listen on [8787]; 0 takes a free one.")
@click.option("--store", metavar="URL", help="Where the history goes: sqlite:///PATH [the user's data folder].")
@click.option("--policy", metavar="NAMES", help="A preset, or policies with commas [generational].")
@click.option("--audit", metavar="MODE", help="available or strict: strict answers 503 rather than send unrecorded.")
def command(**flags: object) -> None:
    """Stand between an agent and its model API.

    Point the agent's base URL at the proxy and run it unchanged; its own API key is passed on and never stored.

    \b
    Examples:
      ctxgc proxy --upstream https://api.openai.com/v1
      OPENAI_BASE_URL=http://127.0.0.1:8787/v1 my-agent
      ctxgc proxy --upstream http://127.0.0.1:8000/v1 --policy observe --audit strict

    Settings come from flags, CTXGC_* variables, ./ctxgc.toml and the user's config.toml, in this order; see
    `ctxgc config show --origin`.
    """
    from ctxgc.cli._serving import until_stopped
    from ctxgc.config import load
    from ctxgc.policies import from_config
    from ctxgc.proxy.server import serve

    config = load(flags).config
    policies = from_config(config.policy, config.policies)
    until_stopped(serve(config, policies, _announce))


def _announce(base: str, page: str) -> None:
    from ctxgc.cli._serving import say_page

    click.echo(f"ctxgc listens on {base}; point the agent there: OPENAI_BASE_URL={base}/v1", err=True)
    click.echo(f"metrics: {base}/metrics; stop with Ctrl-C", err=True)
    if page:
        say_page(page)
