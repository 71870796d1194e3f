"""Topology-aware scheduling: jobs are admitted when their pods fit on nodes as they are, and as close as requested."""

import pytest

from apis import kinds
from apis.nccl import Transport
from apis.topology import PREFERRED, REQUIRED
from components.layout import Layout
from tests.cluster.kueue.site import LEAF, MPI, NEAR, NODES, Site, mpi_job

pytestmark = pytest.mark.cluster


def test_a_job_that_does_not_fit_the_nodes_waits_whole(near: Site) -> None:
    """8, 8 and 8 GPUs onto 7, 7 and 8 free ones: no pod is created, `./hpc status` says why, and room lets it go."""
    for node in NODES[:2]:
        near.occupy(node, 1)
    near.submit("whole", pods_=3, gpus=8)
    near.api.eventually(lambda: any("topology" in text for text in near.shown("whole").hindrances))
    assert near.pods_of("whole") == []
    assert near.shown("whole").state == "Suspended"
    for node in NODES[:2]:
        near.vacate(node)
    near.api.eventually(lambda: near.phases("whole") == ["Running"] * 3)
    near.end(kinds.JOB, "whole")


def test_a_job_that_needs_one_leaf_waits_for_it(near: Site) -> None:
    """Two free nodes of different leaves are not enough; the job starts when two of one leaf are free."""
    near.occupy("dgx01", 1)
    near.submit("close", pods_=2, gpus=8, annotations={REQUIRED: LEAF})
    why = near.api.eventually(lambda: near.shown("close").hindrances)
    assert any("topology" in text for text in why), why
    near.submit("anywhere", pods_=2, gpus=8, seconds=3, annotations={PREFERRED: LEAF})
    near.api.eventually(lambda: near.on("anywhere") == ["dgx02", "dgx03"])
    assert near.pods_of("close") == []
    near.end(kinds.JOB, "anywhere")
    assert near.pods_of("close") == []
    near.vacate("dgx01")
    near.api.eventually(lambda: near.on("close") == ["dgx01", "dgx02"])
    near.end(kinds.JOB, "close")


def test_workers_of_an_mpi_job_are_on_one_leaf(near: Site) -> None:
    """Workers have the request and the launcher has none, and Kueue gives all of them nodes at once."""
    near.occupy("dgx03", 1)
    near.occupy("dgx02", 1)
    small = {"transport": Transport.TCP, "volumes": {}, "mounts": {}}
    job = mpi_job("mpi", NEAR, layout=Layout(pods=2, gpus=8), required_topology=LEAF, **small)
    near.api.create(MPI, job, NEAR)
    near.api.eventually(lambda: any("topology" in text for text in near.shown("mpi").hindrances))
    assert near.pods_of("mpi") == []
    near.vacate("dgx02")
    near.api.eventually(lambda: near.on("mpi-worker") == ["dgx01", "dgx02"])
    near.end(MPI, "mpi")
    near.vacate("dgx03")
