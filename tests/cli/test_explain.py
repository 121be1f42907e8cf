"""Why each cell was sent as it was, as it is printed."""

import json

import pytest

from ctxgc.store import open_store
from tests.lab.collected import POLICY, bodies, collecting_kit, listing
from tests.lab.collected import run as record


@pytest.fixture(scope="module")
def gc_url(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'gc.db'}"
    store = open_store(url)
    record(collecting_kit(store), bodies(16))
    store.close()
    return url


@pytest.fixture(autouse=True)
def _configured(tmp_path):
    """The configuration that the session was made with."""
    (tmp_path / "ctxgc.toml").write_text(f'regret = 0.5\npolicy = "{POLICY}"\n')


@pytest.fixture
def turn(run, gc_url):
    """The turn with which residents went."""
    (session,) = json.loads(run("gc-log", "cc", "--store", gc_url, "--json").out)["sessions"]
    return session["collections"][-1]["turn"]


def explained(run, url, *argv):
    return json.loads(run("explain", "cc", *argv, "--store", url, "--json").out)


def test_the_table_has_a_row_for_each_cell_and_says_what_was_decided(run, gc_url, turn):
    ran = run("explain", "cc", turn, "--store", gc_url)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.text.splitlines()
    assert lines[0].startswith(f"session {'cc' * 6}, turn {turn} of 16, 20")
    assert lines[2].startswith("collected (rent): ")
    cells = explained(run, gc_url, turn)["cells"]
    taken = [cell for cell in cells if cell["offer"] and cell["offer"]["taken"]]
    assert lines[3] == f"{len(taken)} cells could go, 0 of them wait"
    assert len(lines) == 4 + 3 + len(cells)
    assert sum(f"  shortened  in turn {turn} (rent) by idle" in line for line in lines) == len(taken) > 1
    assert "turn 9 agent_reply said 'load_session_1_17'" in ran.text
    assert not any(line.startswith("note:") for line in lines)


def test_turns_are_counted_from_1_and_below_zero_from_the_end(run, gc_url):
    assert explained(run, gc_url, 16) == explained(run, gc_url, -1) == explained(run, gc_url)
    assert explained(run, gc_url, -16)["turn"] == 1


@pytest.mark.parametrize("turn", ["0", "17", "-17"])
def test_a_turn_that_is_not_there_is_one_line(run, gc_url, turn):
    ran = run("explain", "cc", turn, "--store", gc_url)
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, b"", 1)
    assert "the session has 16" in ran.err


@pytest.mark.parametrize("argv", [("x",), ("1", "2"), ("1", "--jsn")])
def test_what_is_no_turn_and_no_option_is_a_usage_error(run, gc_url, argv):
    assert run("explain", "cc", *argv, "--store", gc_url).code == 2


def test_json_has_stable_keys(run, gc_url, turn):
    document = explained(run, gc_url, turn - 1)
    assert document["schema"] == "ctxgc.explain/1"
    assert (document["turn"], document["requests"], document["agrees"], document["trigger"]) == (turn - 1, 16, True, "")
    waiting = [cell for cell in document["cells"] if cell["verdict"] == "waits"]
    assert waiting
    assert set(waiting[0]) == {
        "cell", "message", "role", "kind", "tag", "site", "tokens", "sent", "arrived", "age", "generation", "verdict",
        "why", "stale", "references", "into", "out", "edit", "offer",
    }  # fmt: skip
    assert set(waiting[0]["offer"]) == {
        "policy", "action", "reason", "after", "saves", "behind", "since", "urgency", "rent", "price", "needed",
        "taken",
    }  # fmt: skip


def test_one_cell_in_full_has_its_references_and_both_texts(run, gc_url):
    (target,) = [cell for cell in explained(run, gc_url)["cells"] if cell["into"]]
    one = explained(run, gc_url, -1, "--cell", target["cell"])
    assert (one["cell"], one["text"]) == (target, listing(1))
    (edited, *_) = [cell for cell in explained(run, gc_url)["cells"] if cell["verdict"] == "shortened"]
    text = run("explain", "cc", "--cell", edited["cell"], "--store", gc_url).text
    assert f"handle: {edited['edit']['handle']}\n" in text
    assert f"as it was sent:\n  [ctxgc:{edited['edit']['handle']} " in text
    assert (
        f"referred to by cell {target['into'][0]['cell']}: turn 9 agent_reply said"
        in run("explain", "cc", "--cell", target["cell"], "--store", gc_url).text
    )


def test_a_tool_of_the_tool_list_has_no_text_of_a_message(run, gc_url):
    assert explained(run, gc_url, "--cell", 0)["text"] is None
    assert run("explain", "cc", "--cell", 0, "--store", gc_url).code == 0


def test_a_cell_that_is_not_carried_is_one_line(run, gc_url):
    ran = run("explain", "cc", 1, "--cell", 9, "--store", gc_url)
    assert (ran.code, ran.err.count("\n")) == (4, 1)


def test_with_other_policies_the_plan_is_said_to_be_another(run, gc_url, turn):
    ran = run("explain", "cc", turn, "--policy", "eden", "--store", gc_url)
    assert "note: with the policies and prices of now, the plan is another" in ran.text
    assert explained(run, gc_url, turn, "--policy", "eden")["agrees"] is False


def test_a_policy_that_is_not_known_is_exit_code_3(run, gc_url):
    assert run("explain", "cc", "--policy", "edn", "--store", gc_url).code == 3
