"""What the eden policies save on recorded sessions: input tokens over all requests, and their cost with a prefix cache.

``python -m benchmarks.sessions PATH...`` takes transcripts of the formats of ``ctxgc profile``. Each is replayed turn by turn
through the session that serves live traffic.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from benchmarks.workload import spread
from ctxgc.assemble import make_kit, prices
from ctxgc.lab.profile import profile
from ctxgc.lab.replay import replay
from ctxgc.lab.transcripts import read
from ctxgc.policies import preset
from ctxgc.store import open_store


def measure(path: Path, policy: str, model: str) -> list[dict[str, object]]:
    rows = []
    for transcript in read(path):
        store = open_store("sqlite://")
        replayed = replay(transcript, make_kit(store, preset(policy)), model)
        found = profile(replayed.entries, transcript.id, prices(), replayed.last_calls)
        store.close()
        received, sent = found.total.token_turns, found.total.sent_turns
        cost = found.cost
        rows.append(
            {
                "id": transcript.id,
                "requests": len(found.requests),
                "received": received,
                "sent": sent,
                "bypassed": sum(found.bypassed.values()),
                "usd_received": cost.received_cached if cost else 0.0,
                "usd_sent": cost.sent_cached if cost else 0.0,
            }
        )
    return rows


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--policy", default="eden", show_default=True)
@click.option("--model", default="gpt-5", show_default=True, help="Whose tokenizer and prices.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(paths: tuple[Path, ...], policy: str, model: str, as_json: bool) -> None:
    """What a policy saves on recorded sessions."""
    rows = []
    with click.progressbar(paths, file=sys.stderr, label="replaying") as shown:
        for path in shown:
            rows += measure(path, policy, model)
    shares = [1 - int(row["sent"]) / max(int(row["received"]), 1) for row in rows]  # type: ignore[call-overload]
    total = {key: sum(row[key] for row in rows) for key in ("received", "sent", "usd_received", "usd_sent", "bypassed")}  # type: ignore[misc]
    if as_json:
        json.dump({"schema": "ctxgc.bench.sessions/1", "total": total, "sessions": rows}, sys.stdout, indent=2)
        return
    saved = spread(shares, 100)
    print(
        f"{len(rows)} sessions, {sum(int(row['requests']) for row in rows):,} requests, policy {policy}, priced as {model}"
    )  # type: ignore[call-overload]
    print(
        f"input tokens: {total['received']:,} received, {total['sent']:,} sent: {1 - total['sent'] / total['received']:.1%} saved in all"
    )
    print(
        f"per session: median {saved['median']:.1f} %, tenth {saved['p10']:.1f} %, ninetieth {saved['p90']:.1f} %, best {max(shares):.0%}, worst {min(shares):.1%}"
    )
    print(f"input cost with a prefix cache: ${total['usd_received']:.2f} against ${total['usd_sent']:.2f}")
    print(f"requests that went on unread: {total['bypassed']}")


if __name__ == "__main__":
    main()
