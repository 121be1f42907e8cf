"""Leak suspects: each rule with a session it finds, and one it must not find anything in."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.pacer import Pacer
from ctxgc.lab import suspects as module
from ctxgc.lab._suspect import Case
from ctxgc.lab.carried import carried
from ctxgc.lab.profile import profile
from ctxgc.lab.suspects import RULES
from ctxgc.policies import from_config
from ctxgc.policies.dedup import Dedup

from .build import Same, agent, body, call, recorded, result, system, tool, user, wild

START = [system("be brief"), user("the task")]


@pytest.fixture
def long_enough(monkeypatch):
    """Every session counts as one that is long enough to have habits: a rule is shown at work in as few requests as it
    takes."""
    monkeypatch.setattr(module, "SHORT", 0)


def growing(history, tools=()):
    """A request before each reply, as an agent sends them."""
    ends = [at for at, message in enumerate(history) if message["role"] == "assistant" and at] + [len(history)]
    return [body(history[:end], tools) for end in ends]


def rules(bodies, *policies):
    return {suspect.rule: suspect for suspect in profile(recorded(bodies, *policies)[1]).suspects}


def reads(*texts, path="a"):
    history = list(START)
    for number, text in enumerate(texts):
        history += [call("read", str(number), path=path), result(str(number), text)]
    return history


@pytest.mark.usefixtures("long_enough")
def test_the_same_result_again_is_a_duplicate():
    found = rules(growing(reads("same text " * 20, "same text " * 20)))["duplicate_result"]
    assert found.subject == 'read({"path":"a"})'
    assert found.figure == 40
    assert "already in context once: 40 tokens" in found.sentence


@pytest.mark.usefixtures("long_enough")
def test_the_same_result_is_no_duplicate_where_dedup_made_it_a_pointer():
    found = rules(growing(reads("same text " * 100, "same text " * 100)), Same())
    assert found.get("duplicate_result") is None or found["duplicate_result"].figure < 20


@pytest.mark.usefixtures("long_enough")
def test_the_same_result_in_another_branch_is_no_duplicate():
    one, other = reads("same text " * 20), [*START, user("rather"), *reads("same text " * 20)[2:]]
    assert "duplicate_result" not in rules([body(one), body(other)])


@pytest.mark.usefixtures("long_enough")
def test_a_site_read_many_times_with_other_results_is_a_suspect():
    found = rules(growing(reads("first " * 20, "second " * 20, "third " * 20)))["reread"]
    assert "called 3 times" in found.sentence
    # The first was carried beside the second by two requests, the second beside the third by one.
    assert found.figure == 20 * 2 + 20 * 1


@pytest.mark.usefixtures("long_enough")
def test_two_reads_are_not_many():
    assert "reread" not in rules(growing(reads("first " * 20, "second " * 20)))


def test_one_large_result_carried_along_is_a_suspect():
    history = reads("word " * 3000)
    for number in range(6):
        history += [agent(f"step {number}"), user("go on")]
    found = rules(growing(history))["large_result"]
    assert found.share > 0.9
    assert "3,000 tokens and was sent in 7 of 8 requests" in found.sentence
    assert found.setting == 'policy = "generational@truncate.tools={read=1000}"'


@pytest.mark.parametrize("name", ["read.all", "mcp:read/all"])
def test_a_budget_is_for_the_tool_whatever_its_name_is(name):
    history = [*START, call(name, "0", path="a"), result("0", "word " * 9000)]
    for number in range(6):
        history += [agent(f"step {number}"), user("go on")]
    line = rules(growing(history))["large_result"].setting
    (found,) = (one for one in from_config(tomllib.loads(line)["policy"]) if one.name == "truncate")
    assert found.tools == ((name, 4000),)


def test_a_name_that_would_mean_something_else_is_not_set():
    history = [*START, call("read*,@x", "0", path="a"), result("0", "word " * 9000)]
    for number in range(6):
        history += [agent(f"step {number}"), user("go on")]
    assert rules(growing(history))["large_result"].setting == ""


def test_a_short_session_has_no_habits_but_may_be_large():
    repeated = reads("same text " * 20, "same text " * 20)
    assert rules(growing(repeated)) == {}
    assert "duplicate_result" in rules(growing([*repeated, *steps(10, words=1)]))
    large = reads("same text " * 3000, "same text " * 3000, "more")
    assert "duplicate_result" in rules(growing(large))


@pytest.mark.usefixtures("long_enough")
def test_a_small_session_has_no_large_results():
    assert "large_result" not in rules(growing([*reads("word " * 500), agent("a"), user("b")]))


@pytest.mark.usefixtures("long_enough")
def test_tools_never_called_are_one_suspect_together():
    tools = [tool("read"), *(tool(f"unused{number}", "many words here " * 9) for number in range(7))]
    found = rules(growing(reads("first", "second", "third"), tools))["unused_schema"]
    assert "and 2 more" in found.subject
    assert "7 tool schemas" in found.sentence
    assert "read" not in found.subject.split(", ")


@pytest.mark.usefixtures("long_enough")
def test_tools_that_are_called_or_hardly_offered_are_no_suspects():
    assert "unused_schema" not in rules(growing(reads("one", "two", "three"), [tool("read")]))
    assert "unused_schema" not in rules(growing(reads("one"), [tool("other", "words " * 90)]))


@pytest.mark.usefixtures("long_enough")
def test_tools_that_were_offered_later_are_not_said_to_be_in_every_request():
    early, late = growing(reads("one", "two", "three", "four")), [tool("other", "words " * 90)]
    history = [*reads("one", "two", "three", "four"), *steps(4)]
    found = rules([*early, *growing(history, late)[-4:]])["unused_schema"]
    assert "was sent in 4 of 9 requests" in found.sentence


def steps(count, *, tool="look", words=100):
    """Turns in which a tool gives a result that nothing refers to."""
    history = []
    for number in range(count):
        text = f"found item_{number}_alpha " + "filler " * words
        history += [call(tool, f"c{number}", at=number), result(f"c{number}", text)]
    return history


def test_a_source_that_only_grows_and_is_idle_is_a_suspect():
    found = rules(growing([*START, *steps(20)]))["growing"]
    assert found.subject == "tool_result:look"
    assert "grew in 8 of the last" in found.sentence
    assert "came more than 8 turns ago" in found.sentence
    assert found.setting == 'policy = "generational"'


def test_what_is_said_of_references_was_looked_for():
    followed = rules(growing([*START, *steps(20)]), Same())["growing"]
    assert "nothing has referred to" in followed.sentence
    names = " and ".join(f"item_{number}_alpha" for number in range(20))
    bodies = growing([*START, *steps(20), agent(f"what matters is {names}"), user("on"), agent("so"), user("go")])
    assert "growing" in rules(bodies)
    assert "growing" not in rules(bodies, Same())


def test_a_source_of_which_most_is_recent_does_not_leak():
    assert "growing" not in rules(growing([*START, *steps(12)]))


def test_a_source_that_shrank_is_no_suspect():
    bodies = growing([*START, *steps(20)])
    assert "growing" not in rules([*bodies[:-1], body([*START, *steps(18, words=90)])])


@pytest.mark.usefixtures("long_enough")
def test_a_failure_that_was_overcome_and_stays_is_a_suspect():
    history = [*START, *failing(), *steps(6, tool="other")]
    found = rules(growing(history), Same())["failed_result"]
    assert "1 failed, 0 out of date" in found.sentence
    assert found.subject.startswith("read_file")


def failing():
    """A file that is not found at first, and then is."""
    missing = "Error: ENOENT: no such file or directory, open 'a.py' " + "while reading " * 60
    return [
        *(call("read_file", "f1", path="a.py"), result("f1", missing)),
        *(call("read_file", "f2", path="a.py"), result("f2", "def main(): pass\n" * 9)),
    ]


@pytest.mark.usefixtures("long_enough")
def test_results_that_nothing_replaced_are_not_failed():
    assert "failed_result" not in rules(growing([*START, *steps(8)]), Same())


def churning(count, *, first=True):
    """Requests with the time at their head, or at their end."""
    made, history = [], [user("the task")]
    for number in range(count):
        history = [*history, agent(f"step {number} " + "words " * 300), user("go on")]
        clock = system(f"it is {number} o'clock")
        made.append(body([clock, *history] if first else [*history, clock]))
    return made


def test_a_head_that_changes_with_every_request_is_churn():
    found = rules(churning(20))["cache_churn"]
    assert "mostly by the agent" in found.sentence
    assert found.setting == ""


def test_what_changes_at_the_end_is_no_churn():
    assert "cache_churn" not in rules(churning(20, first=False))


def test_agents_that_take_turns_in_a_session_are_no_churn():
    one, other = ([system(name), user("go"), *steps(16, tool=name, words=300)] for name in ("one", "other"))
    pairs = zip(growing(one), growing(other), strict=True)
    assert "cache_churn" not in rules([text for pair in pairs for text in pair])


def test_a_long_session_without_a_collection_is_a_suspect():
    found = rules(growing([*START, *steps(40)]))["no_collection"]
    assert "41 requests, and nothing sent was ever collected" in found.sentence
    assert found.setting == 'policy = "generational"'


def test_a_short_session_need_not_be_collected():
    assert "no_collection" not in rules(growing([*START, *steps(25)]))


@pytest.mark.usefixtures("long_enough")
def test_a_text_that_is_injected_again_and_again_is_boilerplate():
    reminder, history = "remember the rules of this house: " + "be kind " * 20, [*START]
    for number in range(6):
        history += [agent(f"step {number}"), user(reminder)]
    found = rules(growing(history))["boilerplate"]
    assert "stands in the history 6 times" in found.sentence
    assert found.figure == 46 * (0 + 5 + 4 + 3 + 2 + 1)


@pytest.mark.usefixtures("long_enough")
def test_short_words_and_texts_of_other_histories_are_no_boilerplate():
    history = [*START]
    for number in range(6):
        history += [agent(f"step {number}"), user("go on please")]
    assert "boilerplate" not in rules(growing(history))
    reminder = user("remember the rules: " + "be kind " * 20)
    assert "boilerplate" not in rules([body([system(f"one of {at}"), reminder]) for at in range(6)])


@pytest.mark.usefixtures("long_enough")
def test_what_is_on_is_not_advised():
    """A session whose journal shows dedup at work: its leftovers are told of, and not answered with dedup."""
    copies = reads("same text " * 100, "same text " * 100)
    small = [each for at in range(4) for each in (call("look", f"s{at}", at="b"), result(f"s{at}", "tiny " * 14))]
    bodies = growing([*copies, *small])
    without = rules(bodies)["duplicate_result"]
    assert without.setting == 'policy = "generational"'
    assert "Turn on" in without.action
    found = [
        one for one in profile(recorded(bodies, Dedup(min_tokens=16))[1]).suspects if one.rule == "duplicate_result"
    ]
    assert all((one.setting, "Turn on" in one.action) == ("", False) for one in found)
    assert found


def test_every_setting_that_is_advised_can_be_set():
    bodies = [*growing([*START, *steps(40)]), *growing(reads("word " * 9000, *(f"{n} " * 30 for n in range(6))))]
    found = profile(recorded(bodies)[1]).suspects
    lines = {one.setting for one in found if one.setting}
    assert lines
    for line in lines:
        settings = tomllib.loads(line)
        from_config(settings.pop("policy", "observe"))
        Pacer(**settings)


@pytest.mark.usefixtures("long_enough")
def test_all_rules_have_names_and_every_suspect_has_one_of_them():
    assert len(RULES) == len(set(RULES)) == 9
    for seed in range(4):
        assert {one.rule for one in profile(recorded(wild(seed))[1]).suspects} <= set(RULES)


def naive_repeats(state, cells):
    """Of cells with one content, those that have another one in an earlier message, or before them in their own."""
    for cell in cells:
        path = {node.id for node in state.path(state.owners[cell])}
        if any(other < cell and state.owners[other] in path for other in cells):
            yield cell


@given(st.integers(0, 500))
def test_copies_in_one_history_are_found_as_by_going_through_it(seed):
    found = carried(recorded(wild(seed))[1])
    case = Case(found, ())
    for cells in found.state.results.values():
        assert sorted(case.repeats(cells)) == list(naive_repeats(found.state, cells))
        for one in cells:
            for other in cells:
                path = {node.id for node in found.state.path(found.state.owners[other])}
                assert case.stands_before(one, other) == (found.state.owners[one] in path)


def test_many_copies_in_a_winding_history_cost_no_more_than_a_walk_over_it():
    """Counted, not timed: each copy is looked at a few times, and its history never gone through."""
    history, made = list(START), []
    for number in range(120):
        history = [*history, call("read", str(number), path="a"), result(str(number), "same text " * 20)]
        made += [body([*history[:-2], user(f"or {number}")]), body(history)]
    found = carried(recorded(made)[1])
    looked = []

    class Counted(list):
        def __getitem__(self, at):
            looked.append(at)
            return super().__getitem__(at)

    case = Case(found, ())
    case._places = Counted(case._places)
    (cells,) = found.state.results.values()
    assert len(list(case.repeats(cells))) == len(cells) - 1
    assert len(looked) <= 3 * len(cells)
