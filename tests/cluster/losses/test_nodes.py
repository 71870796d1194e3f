"""Nodes that go off in the middle of a training, by the kind of its job, with and without Kueue's topology."""

import pytest

from tests.cluster.losses.site import NEAR, NODES, PLAIN, Site
from tests.cluster.losses.training import Keep, Training, of_all_kinds, strike_last_ranks
from toolkit.cli.status.stuck import OUT_OF_SERVICE
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster

HELD = ("TrainJob", "MPIJob")
"""Kinds whose job waits for the end of a pod that stays Terminating."""


def _waits(site: Site, training: Training, node: str) -> bool:
    """Return whether `./hpc status` says that a job waits for a node, and how that ends."""
    shown = site.stuck().get(f"Node {node}")
    return bool(
        shown and training.name in shown.cause and f"oc adm taint nodes {node} {OUT_OF_SERVICE}" in shown.remedy
    )


def test_the_kubelet_comes_back(site: Site, record_property: Keep) -> None:
    """A Job has its pod replaced at once; a TrainJob and an MPIJob wait for the node, and go on when it is back."""
    made = of_all_kinds(site, PLAIN, "back")
    lost = strike_last_ranks(made.values(), lambda rank: site.mark(pods.node_name(rank), lost="true"))
    for kind, training in made.items():
        training.missed(lost[kind])
    for kind in HELD:
        site.api.eventually(lambda one=kind: _waits(site, made[one], lost[one]))  # type: ignore[misc]
    made["Job"].record(record_property, "node dies, and comes back", made["Job"].trains_again())
    assert not any(made[kind].resumed() for kind in HELD)
    for kind in HELD:
        site.mark(lost[kind], lost=None)
    for kind in HELD:
        made[kind].record(record_property, "node dies, and comes back", made[kind].trains_again())
        assert f"Node {lost[kind]}" not in site.stuck()


def test_a_node_dies(site: Site, record_property: Keep) -> None:
    """With the taint by which the node is out of service all kinds train again, on another node."""
    made = of_all_kinds(site, NEAR, "dies")
    lost = strike_last_ranks(made.values(), lambda rank: site.mark(pods.node_name(rank), lost="true"))
    for kind, training in made.items():
        training.missed(lost[kind])
    for kind in HELD:
        site.api.eventually(lambda one=kind: _waits(site, made[one], lost[one]))  # type: ignore[misc]
    site.fence(*(lost[kind] for kind in HELD))
    for kind, training in made.items():
        training.record(record_property, "node dies", training.trains_again())
        assert lost[kind] not in training.nodes


def test_no_spare(site: Site, record_property: Keep) -> None:
    """Without a node for the lost one Kueue takes the whole job's place back, and starts it when there is one."""
    training = Training(site, "Job", NEAR, "spare")
    training.begin()
    training.under_way()
    site.cordon(*(node for node in NODES if node not in training.nodes))
    lost = training.nodes[-1]
    training.strike(lambda: site.mark(lost, lost="true"))
    training.missed(lost)
    site.api.eventually(lambda: pods.condition(training.workload(), "Evicted"))
    (evicted,) = (one for one in training.workload()["status"]["conditions"] if one["type"] == "Evicted")
    assert evicted["reason"] == "NodeFailures"
    assert not training.resumed()
    site.cordon(*NODES, cordoned=False)
    training.record(record_property, "no spare", training.trains_again(), evicted["message"])


def test_a_second_node_and_a_launchers_node_die(site: Site, record_property: Keep) -> None:
    """A Job that loses both nodes starts on two others; an MPIJob gets another launcher when its node is fenced.

    The MPI operator's Job for the launcher replaces a pod that has ended, and no sooner (podReplacementPolicy Failed).
    """
    job, mpi = Training(site, "Job", NEAR, "second"), Training(site, "MPIJob", PLAIN, "launcher")
    for training in (mpi, job):  # Kueue sees which nodes pods of others use, and not which they are about to
        training.begin()
        training.under_way()
    (first, second), workers = job.nodes, mpi.nodes
    (launcher,) = site.api.pods(PLAIN, "training.kubeflow.org/job-role=launcher")
    lost = pods.node_name(launcher)
    job.strike(lambda: site.mark(first, lost="true"))
    mpi.strike(lambda: site.mark(lost, lost="true"))
    job.missed(first)
    site.mark(second, lost="true")
    mpi.missed(lost)
    site.api.eventually(lambda: _waits(site, mpi, lost))
    site.fence(lost)
    mpi.record(record_property, "launcher's node dies", mpi.trains_again())
    assert mpi.nodes == workers
    job.record(record_property, "second node dies", job.trains_again())
    assert {first, second}.isdisjoint(job.nodes)
