"""Pods that are evicted or drained, and a GPU that falls off the bus, by the kind of the job."""

from typing import Any

import pytest

from core.apis import kinds
from tests.cluster.losses.site import NEAR, PLAIN, Site
from tests.cluster.losses.training import Keep, of_all_kinds, strike_last_ranks
from toolkit.simulator import names as simulated
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster

LAUNCHERS = "training.kubeflow.org/job-role=launcher"


def test_eviction_by_pressure(site: Site, record_property: Keep) -> None:
    """A Job and a TrainJob go on from their checkpoint; an MPIJob fails as a whole at once."""
    made = of_all_kinds(site, PLAIN, "evicted")

    def evict(rank: dict[str, Any]) -> None:
        site.api.annotate(kinds.POD, rank["metadata"]["name"], {simulated.EVICT: "memory"}, PLAIN)

    strike_last_ranks(made.values(), evict)
    failed = site.api.eventually(lambda: made["MPIJob"].met("Failed"))
    assert failed is not None
    assert failed["reason"] == "MPIJobEvicted"
    made["MPIJob"].record(record_property, "evicted", "all: the job failed", failed["message"])
    for kind in ("Job", "TrainJob"):
        made[kind].record(record_property, "evicted", made[kind].trains_again())


def test_drain(site: Site, record_property: Keep) -> None:
    """The pods of a drained node start on another one, and all kinds go on."""
    made = of_all_kinds(site, NEAR, "drained")

    def drain(rank: dict[str, Any]) -> None:
        site.cordon(pods.node_name(rank))
        meta = {"name": rank["metadata"]["name"], "namespace": NEAR}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        site.api.create(kinds.POD, body, NEAR, name=meta["name"], sub="eviction")

    nodes = strike_last_ranks(made.values(), drain)
    for kind, training in made.items():
        training.record(record_property, "drained", training.trains_again())
        assert nodes[kind] not in training.nodes


def test_a_gpu_falls_off_the_bus(site: Site, record_property: Keep) -> None:
    """Its node offers one GPU less and is cordoned; what comes in place of the pod is on another one.

    A worker of an MPIJob runs sshd, which lives on: without its deletion every launcher would meet the same GPU.
    """
    made = of_all_kinds(site, PLAIN, "fallen")

    def fall(rank: dict[str, Any]) -> None:
        site.mark(pods.node_name(rank), faults='{"gpus_off_the_bus": [3]}')
        site.cordon(pods.node_name(rank))

    nodes = strike_last_ranks(made.values(), fall)
    site.api.eventually(lambda: "Failed" in map(pods.phase, site.api.pods(PLAIN, LAUNCHERS)))
    assert nodes["MPIJob"] in made["MPIJob"].nodes
    site.api.delete(kinds.POD, made["MPIJob"].ranks[-1]["metadata"]["name"], PLAIN)
    for kind, training in made.items():
        site.api.eventually(lambda name=nodes[kind]: site.api.offers(name, "nvidia.com/gpu") == 7)  # type: ignore[misc]
        training.record(record_property, "GPU falls off the bus", training.trains_again())
        assert nodes[kind] not in training.nodes
