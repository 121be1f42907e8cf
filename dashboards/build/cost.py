"""The cost: what was billed, what was avoided, what collecting cost, and what is left of it.

Rule: billed, avoided and penalty stand beside one another, and the net figure may be negative.
"""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.builders.dashboard import Dashboard

from .boards import new
from .overview import IN, NET_COST, PAID, READ, UNTOUCHED
from .panels import RANGE, Says, graph, number, row, rows
from .queries import Query, rate, total

COST, INPUT, TOKENS = "ctxgc_cost_usd_total", "ctxgc_input_cost_usd_total", "ctxgc_provider_tokens_total"
LIST = "US dollars at list prices; models without one are left out."
BILLED = 'kind="billed"'
HOUR = 3600


def board() -> Dashboard:
    """The dashboard."""
    text = "What requests cost at list prices, what was avoided, and what collecting cost itself."
    return new("cost", "Cost", text, [*_stats(), *_hourly(), *_tokens()], model=True)


def _stats() -> Iterator[object]:
    text = (
        "What the input would have cost if nothing had been collected, less what it cost: net of cache that had to be "
        f"written again and of recalls. Negative where collecting did not pay. Of all models. {LIST}"
    )
    yield number(Says("Net saving on input", text, "currencyUSD", RANGE), NET_COST, limit=0, below=True, decimals=4)
    for title, kind, text in (
        ("Billed", "billed", "What the tokens cost that providers reported. Source: usage as billed."),
        (
            "Avoided", "avoided",
            "What tokens that were not sent would have cost at least. Not net: the penalty is not taken off. "
            "Source: our counts, believed as far as the provider's do not say that they are too high.",
        ),
        (
            "Cache penalty", "cache_penalty",
            "What it cost that parts of the cache had to be written again because something before them was changed.",
        ),
    ):  # fmt: skip
        spent = total(COST, f'kind="{kind}"', model=True)
        yield number(Says(title, f"{text} {LIST}", "currencyUSD", RANGE), spent, decimals=4)
    read = f"{total(TOKENS, READ, model=True)} / {_input()}"
    text = (
        "Share of input tokens that providers report as read from their cache. Source: usage as billed. What this "
        "saves is the provider's doing, and is in no figure of ours."
    )
    yield number(Says("Provider cache hits", text, "percentunit", RANGE), read)


def _input() -> str:
    return total(TOKENS, IN, model=True)


def _hourly() -> Iterator[object]:
    yield row("Dollars an hour")
    text = f"Dollars an hour, billed, avoided and lost to cache that had to be written again. {LIST}"
    query = Query(f"{rate(COST, by='kind', model=True)} * {HOUR}", "{{kind}}")
    yield graph(Says("Billed, avoided, penalty", text, "currencyUSD"), [query])
    text = f"Dollars an hour that the input costs as it is sent (paid), and would cost untouched. Of all models. {LIST}"
    query = Query(f"{rate(INPUT, by='kind')} * {HOUR}", "{{kind}}")
    yield graph(Says("Paid and untouched", text, "currencyUSD"), [query])
    text = f"Dollars an hour that are billed, by model. {LIST}"
    query = Query(f"{rate(COST, BILLED, by='model', model=True)} * {HOUR}", "{{model}}")
    yield graph(Says("Billed by model", text, "currencyUSD"), [query], stacked=True)
    net = f"{rate(INPUT, UNTOUCHED)} * {HOUR} - {rate(INPUT, PAID)} * {HOUR}"
    text = f"Dollars an hour that collecting brings, net; below zero it costs. Of all models. {LIST}"
    yield graph(Says("Net saving", text, "currencyUSD"), [Query(net, "net")])


def _tokens() -> Iterator[object]:
    yield row("Tokens as billed")
    text = "Tokens a second as providers report them, each in one kind only, so that their sum is what was used."
    query = Query(rate(TOKENS, by="kind", model=True), "{{kind}}")
    yield graph(Says("Tokens by kind", text, "short"), [query], stacked=True)
    text = "Input tokens a second as providers report them, by model."
    query = Query(rate(TOKENS, IN, by="model", model=True), "{{model}}")
    yield graph(Says("Input tokens by model", text, "short"), [query], stacked=True)
    columns = [
        (title, total(COST, f'kind="{kind}"', by="model", model=True))
        for title, kind in (("Billed", "billed"), ("Avoided", "avoided"), ("Cache penalty", "cache_penalty"))
    ]
    text = f"What each model cost. {LIST}"
    yield rows(Says("By model", text, "currencyUSD", RANGE), columns, ("model",))
