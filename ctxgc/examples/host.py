"""The host of the agent: it carries out what the model calls, keeps what really came of it, and posts.

Rule: the model never posts. A fact is posted only on what a verifier saw in a voucher; a file that is rewritten
overturns the fact on what it was, and one that is put back as it was restores that fact.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxgc.core.bookings import Artifact, Evidence, Fact
from ctxgc.core.books import Books
from ctxgc.errors import LedgerError, UnknownHandle
from ctxgc.examples.chat import Call
from ctxgc.examples.tools import Workspace
from ctxgc.ledger import Ledger, Verifier, exit_status, number_equals, reads_back
from ctxgc.session import reading

CRITICAL = frozenset({"settings.json"})
"""Files that much else builds on: a period is not closed unless they are what the facts say."""


class Host:
    """Answers the calls of one agent. ``recalls`` says whether it reads vouchers back to the model."""

    def __init__(self, ledger: Ledger, workspace: Workspace, *, recalls: bool = True) -> None:
        self.ledger = ledger
        self.workspace = workspace
        self.recalls = recalls

    def answer(self, call: Call) -> str:
        """What a call gives: text, which says so where something is refused. Raises ``StoreError``."""
        try:
            return self._answer(call)
        except (ValueError, LedgerError, UnknownHandle) as error:
            return f"error: {error}"

    def _answer(self, call: Call) -> str:
        if call.name == reading.TOOL_NAME and self.recalls:
            return self._recalled(call.arguments)
        path, text = (_text(call, key) for key in ("path", "content"))
        match call.name:
            case "write_file":
                return self.written(path, text.encode("utf-8", "replace"))
            case "read_file":
                return self.workspace.read(path).decode("utf-8", "replace")
            case "run_tests":
                return self.ran(path)
        return f"error: there is no tool {call.name[:60]!r}"

    def written(self, path: str, data: bytes) -> str:
        """Write a file, keep it as a voucher, have it read back, and post that it is there."""
        self.workspace.write(path, data)
        kept = self.ledger.vault.store(ref=path, content=data)
        seen = [self.ledger.verify(kept, reads_back())]
        self._post(f"{path} is written and reads back equal", kept, seen)
        return f"{path} is written: {kept.size} bytes"

    def ran(self, path: str) -> str:
        """Run the tests in a file, keep what they printed, and post how they ended."""
        outcome = self.workspace.run(path)
        kept = self.ledger.vault.store(
            ref=f"run_tests {path}", content=outcome.output, kind="test", exit_status=outcome.status
        )
        passed = sum(line.startswith(b"PASS ") for line in outcome.output.splitlines())
        checks: list[Verifier] = [exit_status(outcome.status)]
        if outcome.status == 0:
            checks.append(number_equals(passed, near="passed"))
        ended = "pass" if outcome.status == 0 else f"fail with exit status {outcome.status}"
        self._post(f"the tests in {path} {ended}", kept, [self.ledger.verify(kept, check) for check in checks])
        return outcome.output.decode("utf-8", "replace")

    def standing(self, ref: str) -> Fact | None:
        """The current fact on the newest voucher of a file or command."""
        books = self.ledger.books
        return next((fact for fact in reversed(books.current()) if _ref(books, fact) == ref), None)

    def _recalled(self, arguments: str) -> str:
        asked = reading.parse(arguments)
        text = self.ledger.read(asked.handle)
        return reading.excerpt(text, asked) if text is not None else "error: there is no voucher of that handle"

    def _post(self, statement: str, kept: Artifact, seen: Sequence[Evidence]) -> None:
        standing, before = self.standing(kept.ref), self._before(statement, kept)
        if before is not None and (standing is None or standing.source[0].artifact != kept.id):
            self.ledger.restore(before, f"{kept.ref} is again what it was")
            return
        criticality = "critical" if kept.ref in CRITICAL else "normal"
        self.ledger.post(statement, seen, criticality, supersedes=standing or "")

    def _before(self, statement: str, kept: Artifact) -> Fact | None:
        """The overturned fact that says the same of the same voucher."""
        books = self.ledger.books
        gone = (books.facts[name] for name in books.superseded_by)
        return next((fact for fact in gone if (fact.statement, fact.source[0].artifact) == (statement, kept.id)), None)


def _ref(books: Books, fact: Fact) -> str:
    return books.artifacts[fact.source[0].artifact].ref


def _text(call: Call, key: str) -> str:
    """An argument that is text; empty where it is not given. Raises ``ValueError``."""
    given = call.given.get(key, "")
    if not isinstance(given, str):
        raise ValueError(f"{key} must be text")
    return given
