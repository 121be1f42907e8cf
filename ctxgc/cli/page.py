"""``ctxgc page``."""

from __future__ import annotations

import click

from ctxgc.cli._journals import store_option


@click.command()
@click.argument("session", required=False)
@store_option
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port to listen on [a free one].")
@click.option("--open", "open_", is_flag=True, help="Open it in the browser.")
def command(session: str | None, store: str | None, port: int | None, open_: bool) -> None:
    """Serve the profiler page over a store, until Ctrl-C. Without the proxy, and read only.

    The address that is printed holds a token: who has it can read all that the store holds. Where the proxy runs, it
    serves the page itself, and sessions can be acted on there.

    \b
    Examples:
      ctxgc page --open
      ctxgc page 3fa2                          opens on that session
      ctxgc page --store sqlite:///old.db --port 8788
    """
    from ctxgc.cli._journals import find_session, opened
    from ctxgc.cli._serving import say_page, until_stopped
    from ctxgc.config import default_store, load
    from ctxgc.web.frames import Terms
    from ctxgc.web.serving import serve_page
    from ctxgc.web.token import link

    config = load({"store": store}).config
    key = ""
    if session:
        with opened(store) as found:
            key = find_session(found, session).key.hex()

    def ready(base: str, token: str) -> None:
        say_page(link(base, token, key), opens=open_)
        click.echo("stop with Ctrl-C", err=True)

    terms = Terms(url=config.store or default_store(), ledger=config.ledger, pacer=config.pacer())
    at = config.page_port if port is None else port
    until_stopped(serve_page(terms, config.host, at, ready, config.allowed_hosts))
