"""Leak suspects: each rule with a session it finds, and one it must not find anything in."""

from ctxgc.lab.profile import profile

from .build import Same, agent, body, call, recorded, result, system, tool, user

START = [system("be brief"), user("the task")]


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


def test_the_same_result_again_is_a_duplicate():
    found = rules(growing(reads("same text " * 20, "same text " * 20)))["duplicate_result"]
    assert found.subject == 'read({"path":"a"})'
    assert found.figure == 40
    assert "already in context once: 40 tokens" in found.sentence


def test_the_same_result_is_no_duplicate_where_dedup_made_it_a_pointer():
    found = rules(growing(reads("same text " * 100, "same text " * 100)), Same())
    assert found.get("duplicate_result") is None or found["duplicate_result"].figure < 20


def test_the_same_result_in_another_branch_is_no_duplicate():
    one, other = reads("same text " * 20), [*START, user("rather"), *reads("same text " * 20)[2:]]
    assert "duplicate_result" not in rules([body(one), body(other)])


def test_a_site_read_many_times_with_other_results_is_a_suspect():
    found = rules(growing(reads("first " * 20, "second " * 20, "third " * 20)))["reread"]
    assert "called 3 times" in found.sentence
    # The first was carried beside the second by two requests, the second beside the third by one.
    assert found.figure == 20 * 2 + 20 * 1


def test_two_reads_are_not_many():
    assert "reread" not in rules(growing(reads("first " * 20, "second " * 20)))


def test_one_large_result_carried_along_is_a_suspect():
    history = reads("word " * 3000)
    for number in range(6):
        history += [agent(f"step {number}"), user("go on")]
    found = rules(growing(history))["large_result"]
    assert found.share > 0.9
    assert "3,000 tokens" in found.sentence


def test_a_small_session_has_no_large_results():
    assert "large_result" not in rules(growing([*reads("word " * 500), agent("a"), user("b")]))


def test_tools_never_called_are_one_suspect_together():
    tools = [tool("read"), *(tool(f"unused{number}", "many words here " * 9) for number in range(7))]
    found = rules(growing(reads("first", "second", "third"), tools))["unused_schema"]
    assert "and 2 more" in found.subject
    assert "7 tool schemas" in found.sentence
    assert "read" not in found.subject.split(", ")


def test_tools_that_are_called_or_hardly_offered_are_no_suspects():
    assert "unused_schema" not in rules(growing(reads("one", "two", "three"), [tool("read")]))
    assert "unused_schema" not in rules(growing(reads("one"), [tool("other", "words " * 90)]))
