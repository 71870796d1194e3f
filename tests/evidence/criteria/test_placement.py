"""On how many nodes a job has to be."""

import pytest

from evidence.criteria.placement import CRITERIA
from evidence.verdict import Asked, Ended, Job, Shape, Status

(NODES_USED,) = (one for one in CRITERIA if one.name == "nodes-used")


@pytest.mark.parametrize(
    ("shape", "nodes", "status"),
    [
        (Shape(pods=3, gpus=1), ("dgx04",), None),
        (Shape(pods=1, gpus=8), ("dgx01",), None),
        (Shape(pods=16, gpus=1), ("dgx01",), Status.FAIL),
        (Shape(pods=16, gpus=1), ("dgx01", "dgx02"), Status.PASS),
        (Shape(pods=4, gpus=8), ("dgx01", "dgx02", "dgx03"), Status.FAIL),
        (Shape(pods=2, gpus=8), (), None),
    ],
)
def test_a_job_is_on_as_many_nodes_as_have_its_gpus(
    shape: Shape, nodes: tuple[str, ...], status: Status | None
) -> None:
    """Prevents single GPUs that the scheduler found on one node from failing (B-6.1), and a node that was left out."""
    asked = Asked(job="it", profile="dgx1-v100-16gb", shape=shape, nodes=nodes)
    found = NODES_USED.verdict(Job(asked=asked, ended=Ended.SUCCEEDED, readings=()))
    assert (found and found.status) == status
