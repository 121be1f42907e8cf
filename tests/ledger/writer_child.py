"""Posts facts to a ledger that others post to as well: `writer_child.py URL NUMBER FACTS`."""

import sys

from ctxgc.ledger import open_ledger


def main(url: str, number: int, facts: int) -> None:
    with open_ledger(url) as ledger:
        print("ready", flush=True)
        sys.stdin.readline()  # all begin at once
        for count in range(facts):
            text = f"writer {number} has done {count}"
            kept = ledger.vault.store(ref=f"q{number}.{count}", content=text, kind="query")
            evidence = [ledger.verify(kept, text)]
            posted = ledger.post(text, evidence)
            assert ledger.post(text, evidence) == posted
            shared = ledger.vault.store(ref="shared", content=f"all {count}", kind="query")
            ledger.claim(f"all {count}", pointer=shared.id)
            print(posted.id, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
