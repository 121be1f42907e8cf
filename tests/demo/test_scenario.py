from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pytest

from ctxgc.demo import service
from ctxgc.demo.scenario import coding_session
from ctxgc.demo.script import Call, Scenario
from ctxgc.demo.workspace import Files, perform
from ctxgc.tokens import counter_for

FILE_TOOLS = ("read_file", "edit_file", "grep", "list_files")


@pytest.fixture(scope="module")
def session() -> Scenario:
    return coding_session()


def calls(session: Scenario) -> Iterator[Call]:
    for turn in session.turns:
        yield from turn.calls


def names(session: Scenario) -> list[str]:
    return [str(tool["function"]["name"]) for tool in session.tools]  # type: ignore[index]


def test_it_is_the_same_every_time(session: Scenario) -> None:
    assert coding_session() == session


def test_there_are_sixty_turns_and_the_session_ends_with_words(session: Scenario) -> None:
    assert len(session.turns) == 60
    assert session.turns[-1].text
    assert not session.turns[-1].calls


def test_only_a_turn_without_calls_hands_over_to_the_user(session: Scenario) -> None:
    assert [bool(turn.user) for turn in session.turns[:-1]] == [not turn.calls for turn in session.turns[:-1]]


def test_every_call_has_an_id_of_its_own_and_an_answer(session: Scenario) -> None:
    assert max(Counter(call.id for call in calls(session)).values()) == 1
    assert all(session.result(call.id) == call.result != "" for call in calls(session))


def test_the_arguments_fit_the_schemas(session: Scenario) -> None:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in session.tools}  # type: ignore[index]
    for call in calls(session):
        given, schema = json.loads(call.arguments), schemas[call.name]
        assert set(schema["required"]) <= set(given) <= set(schema["properties"])


def test_all_tools_are_used_but_two(session: Scenario) -> None:
    used = {call.name for call in calls(session)}
    assert [name for name in names(session) if name not in used] == ["web_search", "run_sql"]


def test_some_calls_are_repeated_with_the_same_result(session: Scenario) -> None:
    seen = Counter((call.name, call.arguments, call.result) for call in calls(session))
    assert sum(count > 1 for count in seen.values()) >= 3


def test_some_calls_are_repeated_with_another_result(session: Scenario) -> None:
    results: dict[tuple[str, str], set[str]] = {}
    for call in calls(session):
        results.setdefault((call.name, call.arguments), set()).add(call.result)
    assert sum(len(found) > 1 for found in results.values()) >= 3


def test_one_result_is_longer_than_the_usual_budget(session: Scenario) -> None:
    count = counter_for("gpt-5").count
    assert [call.name for call in calls(session) if count(call.result) > 10_000] == ["bash"]


def test_json_comes_indented(session: Scenario) -> None:
    pages = [call.result for call in calls(session) if call.name == "http_get" and call.result.startswith("{")]
    assert pages
    assert all(page == json.dumps(json.loads(page), indent=2) for page in pages)


def test_a_test_run_that_fails_comes_before_one_that_passes(session: Scenario) -> None:
    runs = [call.result for call in calls(session) if call.arguments.startswith('{"command": "pytest')]
    assert [("failed" in run.splitlines()[-1]) for run in runs[:3]] == [True, True, False]


def test_file_tools_say_what_the_files_say(session: Scenario) -> None:
    at_the_end(session)


def at_the_end(session: Scenario) -> Files:
    """The files as the session leaves them."""
    files = service.files()
    for call in calls(session):
        if call.name in FILE_TOOLS:
            files, printed = perform(files, call.name, json.loads(call.arguments))
            assert printed == call.result
    return files


def agreement(price: str) -> bool:
    """Whether the scripted service's order and invoice come to the same."""
    models, pricing, invoices = (imported(name) for name in ("models", "pricing", "invoices"))
    lines = (
        models.OrderLine("A", "a", 10, Decimal(price)),
        models.OrderLine("B", "b", 55, Decimal("1.99")),
        models.OrderLine("C", "c", 1, Decimal("12.49")),
    )
    order = models.Order(1, 1, 1, "open", "EUR", "", None, lines)
    address = models.Address(1, 1, "", "", "", "DE", True)
    invoice = invoices.draft(order, address, importlib.import_module("datetime").date(2025, 3, 11))
    return bool(invoice.gross == pricing.totals(order, "DE").gross)


def imported(name: str) -> ModuleType:
    return importlib.import_module(f"parcelhub.{name}")


@pytest.mark.parametrize("mended", [False, True])
def test_the_fault_is_there_and_the_edits_mend_it(
    session: Scenario, mended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = at_the_end(session) if mended else service.files()
    for name in ("models", "pricing", "invoices"):
        path = tmp_path / "parcelhub" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[f"parcelhub/{name}.py"], "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert [agreement(price) for price in ("0.47", "0.48", "1.13", "2.29")] == [mended, mended, True, True]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "parcelhub"]:
            del sys.modules[name]


def test_every_python_file_compiles_at_both_ends(session: Scenario) -> None:
    for files in (service.files(), at_the_end(session)):
        for path, text in files.items():
            if path.endswith(".py"):
                compile(text, path, "exec", dont_inherit=True)
