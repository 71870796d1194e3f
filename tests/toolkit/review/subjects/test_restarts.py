"""Nodes that restart."""

from dataclasses import replace
from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, job, made, reported, review, same, updated
from toolkit.review.cluster_facts import Facts, NodeFacts, PoolFacts
from toolkit.review.model import Change, Op, Resource
from toolkit.review.subjects import restarts

NODES = tuple(NodeFacts(name=f"n{index}", gpus=8, pool="gpu") for index in range(4))
FACTS = Facts(nodes=NODES, pools=(PoolFacts(name="gpu", at_once="50%"),), reboot_minutes=20)
MC = "machineconfiguration.openshift.io/v1:"


def config(role: str = "gpu", content: str = "x", **labels: str) -> Resource:
    """Return a MachineConfig."""
    all_labels = {"machineconfiguration.openshift.io/role": role, **labels}
    return made(f"{MC}MachineConfig", {"metadata": {"name": "50-a", "labels": all_labels}, "spec": {"config": content}})


def pool(paused: bool = False, at_once: Any = 1) -> Resource:
    """Return the pool of the GPU nodes."""
    role = {"key": "machineconfiguration.openshift.io/role", "operator": "In", "values": ["worker", "gpu"]}
    spec = {"machineConfigSelector": {"matchExpressions": [role]}, "paused": paused, "maxUnavailable": at_once}
    labels = {"pools.operator.machineconfiguration.openshift.io/gpu": ""}
    return made(f"{MC}MachineConfigPool", {"metadata": {"name": "gpu", "labels": labels}, "spec": spec})


def test_a_configuration_restarts_its_pool() -> None:
    """A changed MachineConfig reports nodes, order and duration of the restarts."""
    running = replace(job(8), live={"status": {"conditions": [{"type": "Running", "status": "True"}]}})
    ended = replace(job(8), urn="x::ended", live={"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})
    found = review(updated(config(), config(content="y")), same(pool()), same(running), same(ended), facts=FACTS)
    assert reported(restarts.find, found) == [
        like("! pool gpu ... 4 nodes drain and restart ... 2 at a time ... 40 minutes"),
        "  MachineConfig 50-a is updated",
        "  nodes n0, n1, n2 and n3",
        like("  jobs ... not finished according to the stack's state ... lose their pods ... MPIJob a/j"),
    ]


def test_drift_reports_the_jobs_that_the_cluster_has() -> None:
    """Of drift the jobs at work are those that the cluster reports, whatever the state holds."""
    running = replace(job(8), live={"status": {"active": 1}})
    ended = replace(job(8), live={"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}}, queried=True)
    drifted = updated(config(), config(content="y"))
    for before, after, end in (
        (running, ended, "no job of the stack is known to run"),
        (ended, replace(running, queried=True), "jobs that have not finished, and lose their pods: MPIJob a/j"),
    ):
        found = review(drifted, same(pool()), Change(Op.SAME, before, after), facts=FACTS, drift=True)
        assert reported(restarts.find, found)[-1].strip() == end


def test_what_comes_and_what_goes() -> None:
    """A deleted MachineConfig restarts nodes, too."""
    for change in (created(config("worker")), deleted(config("worker"))):
        lines = reported(restarts.find, review(change, same(pool()), facts=FACTS))
        assert [line for line in lines if line.startswith("!")] == [
            like("! pool gpu ... 4 nodes drain and restart ... 2 at a time ... 40 minutes"),
            like("! pool worker ... restart ... unknown"),
        ]


def test_a_kubelet_and_a_node() -> None:
    """KubeletConfigs and nodes that join a pool restart nodes, too."""
    selector = {"matchLabels": {"pools.operator.machineconfiguration.openshift.io/gpu": ""}}
    kubelet = made(f"{MC}KubeletConfig", {"metadata": {"name": "k"}, "spec": {"machineConfigPoolSelector": selector}})
    assert (
        reported(restarts.find, review(created(kubelet), same(pool()), facts=FACTS))[1]
        == "  KubeletConfig k is created"
    )
    patch = made("core/v1:NodePatch", {"metadata": {"name": "n1", "labels": {"node-role.kubernetes.io/gpu": ""}}})
    assert reported(restarts.find, review(created(patch), same(pool()), facts=FACTS))[:2] == [
        like("! pool gpu ... 1 node drains and restarts ... 20 minutes"),
        "  node n1 joins",
    ]


def test_a_pool_that_is_paused_or_slower() -> None:
    """A paused pool, and another number of nodes at a time, are reported."""
    found = review(updated(config(), config(content="y")), same(pool(paused=True)), facts=FACTS)
    assert reported(restarts.find, found)[0] == like("! pool gpu is paused ... restart")
    assert reported(restarts.find, review(updated(pool(), pool(at_once=2)), facts=FACTS)) == [
        like("pool gpu ... 2 at a time (was 1 at a time)")
    ]


def test_what_restarts_nothing() -> None:
    """A change of labels alone reports no restart."""
    assert reported(restarts.find, review(updated(config(), config(team="x")), same(pool()), facts=FACTS)) == []
    assert reported(restarts.find, review(same(config()), facts=FACTS)) == []
