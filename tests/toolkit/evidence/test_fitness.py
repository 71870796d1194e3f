"""Which nodes are fit for jobs, and how tests of groups narrow down the bad one."""

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.apis.nccl import Transport
from toolkit.evidence.diagnosis.cause_table import CAUSES
from toolkit.evidence.fitness import PAIR, Fitness, Group, Narrowed, fitness, narrow
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status, Verdict

NODE_LISTS = st.integers(3, 64).map(lambda count: [f"dgx{number:02}" for number in range(count)])


def search(nodes: Sequence[str], bad: str) -> tuple[Narrowed, int]:
    """Test what is proposed until nothing is; return the end, and the number of tests after that of all nodes."""
    results: dict[Group, bool] = {frozenset(nodes): False}
    found = narrow(nodes, results)
    while found.next:
        group = frozenset(found.next)
        assert group not in results
        assert len(group) > 1
        assert group <= {*nodes}
        results[group] = bad not in group
        found = narrow(nodes, results)
    return found, len(results) - 1


@given(nodes=NODE_LISTS, data=st.data())
def test_one_bad_node_of_many_is_found(nodes: list[str], data: st.DataObject) -> None:
    """Wherever it is, it is found and no other, by halves: some tests more than the logarithm of the nodes."""
    bad = data.draw(st.sampled_from(nodes))
    found, tests = search(nodes, bad)
    assert (found.bad, found.suspects) == ((bad,), ())
    assert tests <= math.ceil(math.log2(len(nodes))) + 2


@given(nodes=NODE_LISTS, data=st.data())
def test_a_good_node_is_never_blamed(nodes: list[str], data: st.DataObject) -> None:
    """Whatever was tested, with any bad nodes, each node that is called bad is bad, and each good one is good."""
    bad = data.draw(st.sets(st.sampled_from(nodes)))
    groups = data.draw(st.lists(st.sets(st.sampled_from(nodes), min_size=2).map(frozenset), max_size=12))
    found = narrow(nodes, {group: not group & bad for group in groups})
    assert {*found.bad} <= bad
    assert not {*found.good} & bad
    assert not {*found.suspects} & {*found.good}


def test_two_nodes_cannot_be_told_apart() -> None:
    """Of two nodes alone a test of both says nothing of either; a third one decides."""
    pair = {frozenset({"a", "b"}): False}
    alone = narrow(["a", "b"], pair)
    assert alone.undecided
    assert alone.suspects == ("a", "b")
    third = narrow(["a", "b", "c"], pair)
    assert third.next == ("a", "c")
    assert narrow(["a", "b", "c"], pair | {frozenset({"a", "c"}): True}).bad == ("b",)


def test_a_bad_node_that_is_known_explains_its_groups() -> None:
    """A node that failed its own test explains that groups with it fail: no other node is suspected."""
    found = narrow(["a", "b", "c"], {frozenset({"a", "b", "c"}): False}, known_bad=["b"])
    assert (found.bad, found.suspects, found.next) == (("b",), (), ())


def test_nothing_is_proposed_where_nothing_failed() -> None:
    """Groups that pass leave nothing to do."""
    found = narrow(["a", "b", "c"], {frozenset({"a", "b"}): True})
    assert (found.good, found.bad, found.next) == (("a", "b"), (), ())


NODES = ("dgx01", "dgx02", "dgx03", "dgx04")
CAPPED = next(str(cause) for cause in CAUSES if cause.name == "clock-capped")


def own(node: str) -> Job:
    """Return the test of a node."""
    request = Request(job=f"t/preflight-{node}", prints=("preflight",), nodes=(node,), shape=Shape(pods=1, gpus=8))
    return Job(request=request, ended=Ended.SUCCEEDED, readings=())


def over(*nodes: str) -> Job:
    """Return a job over several nodes."""
    request = Request(
        job=f"t/{'-'.join(nodes)}", nodes=nodes, shape=Shape(pods=len(nodes), gpus=8), transport=Transport.GPUDIRECT
    )
    return Job(request=request, ended=Ended.SUCCEEDED, readings=())


def verdict(job: Job, status: Status, criterion: str = "preflight-speed", causes: Sequence[str] = ()) -> Verdict:
    """Return a verdict on a job."""
    return Verdict(
        criterion=criterion,
        job=job.request.job,
        status=status,
        measured="figure",
        limit="",
        source="",
        causes=tuple(causes),
    )


TESTS = [own(node) for node in NODES]
PASSED = [verdict(test, Status.PASS) for test in TESTS]


def test_each_node_has_the_verdict_of_its_own_test() -> None:
    """Passed, failed with its cause, without an end, and without a test."""
    verdicts = [
        verdict(TESTS[0], Status.PASS),
        verdict(TESTS[1], Status.FAIL, causes=[CAPPED]),
        verdict(TESTS[2], Status.MISSING, "complete-logs"),
    ]
    found = fitness(NODES, TESTS[:3], verdicts)
    assert [one.fitness for one in found.nodes] == [Fitness.FIT, Fitness.UNFIT, Fitness.UNKNOWN, Fitness.UNKNOWN]
    assert [one.reason for one in found.nodes] == [None, "clock-capped", None, None]
    assert found.nodes[3].why == "it was not tested"
    assert found.status == 1
    assert fitness(NODES, TESTS, PASSED).status == 0
    assert fitness(NODES, TESTS[:3], PASSED[:3]).status == 2
    assert fitness((), [], []).status == 2


def test_a_failure_without_a_known_cause_is_named_by_its_criterion() -> None:
    """The label of such a node has the criterion."""
    found = fitness(NODES[:1], TESTS[:1], [verdict(TESTS[0], Status.FAIL, "preflight-limits")])
    assert found.nodes[0].reason == "preflight-limits"


def test_jobs_over_several_nodes_find_what_their_own_tests_do_not() -> None:
    """A node with which every pair fails, and without which they pass, is unfit."""
    pairs = [over("dgx01", "dgx02"), over("dgx02", "dgx03"), over("dgx01", "dgx03")]
    slow = [verdict(pairs[0], Status.FAIL, "bus-bandwidth"), verdict(pairs[1], Status.FAIL, "bus-bandwidth")]
    found = fitness(NODES, [*TESTS, *pairs], [*PASSED, *slow, verdict(pairs[2], Status.PASS, "bus-bandwidth")])
    assert [one.node for one in found.nodes if one.fitness is Fitness.UNFIT] == ["dgx02"]
    bad = found.nodes[1]
    assert bad.reason == PAIR
    assert "t/dgx01-dgx02: bus-bandwidth figure" in bad.why
    assert found.next == ()


def test_what_cannot_be_told_yet_is_suspect_with_the_next_test() -> None:
    """Of a failed job over all nodes all are suspect, and half of them is to be tested next."""
    every = over(*NODES)
    found = fitness(NODES, [*TESTS, every], [*PASSED, verdict(every, Status.FAIL, "transport-between-nodes")])
    assert {one.fitness for one in found.nodes} == {Fitness.SUSPECT}
    assert found.next == ("dgx01", "dgx02")
    assert found.status == 2


def test_a_node_that_is_unfit_explains_jobs_with_it() -> None:
    """A slow job with a node whose own test failed casts no doubt on others."""
    every = over(*NODES)
    verdicts = [*PASSED[1:], verdict(TESTS[0], Status.FAIL), verdict(every, Status.FAIL, "bus-bandwidth")]
    found = fitness(NODES, [*TESTS, every], verdicts)
    assert [one.fitness for one in found.nodes] == [Fitness.UNFIT, *[Fitness.FIT] * 3]


def test_failures_that_are_not_of_nodes_say_nothing_of_them() -> None:
    """Too few ranks, or evidence that is missing, makes no node suspect."""
    every = over(*NODES)
    for status, criterion in ((Status.FAIL, "ranks-are-gpus"), (Status.MISSING, "bus-bandwidth")):
        found = fitness(NODES, [*TESTS, every], [*PASSED, verdict(every, status, criterion)])
        assert {one.fitness for one in found.nodes} == {Fitness.FIT}


def test_both_sides_of_the_rdma_test_are_one_group() -> None:
    """A pair whose measuring side fails and whose listening side passes has failed."""
    client = Request(job="t/rdma", program="rdma-test", nodes=("dgx01",), peers=("dgx02",))
    server = Request(job="t/rdma-listener", program="rdma-test", nodes=("dgx02",), peers=("dgx01",))
    sides = [Job(request=one, ended=Ended.SUCCEEDED, readings=()) for one in (client, server)]
    slow = [verdict(sides[0], Status.FAIL, "ib-write-bandwidth"), verdict(sides[1], Status.PASS, "ports-active")]
    found = fitness(NODES, [*TESTS, *sides], [*PASSED, *slow])
    assert [one.node for one in found.nodes if one.fitness is Fitness.SUSPECT] == ["dgx01", "dgx02"]
    assert found.next == ("dgx01", "dgx03")
