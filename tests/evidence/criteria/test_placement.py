"""On how many nodes a job has to be."""

import pytest

from evidence.criteria.placement import CRITERIA
from evidence.verdict import Asked, Ended, Job, Shape, Status
from tests.evidence.criteria.cases import SINGLE_TABLE, TABLE, TWO, changed
from tests.support.mutated import read_text

(NODES_USED,) = (one for one in CRITERIA if one.name == "nodes-used")
(HOST_NAMES,) = (one for one in CRITERIA if one.name == "host-names")


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


def _hosts(log: str, shape: Shape) -> Status | None:
    asked = TWO.model_copy(update={"shape": shape})
    found = HOST_NAMES.verdict(Job(asked=asked, ended=Ended.UNKNOWN, readings=read_text(log)))
    return found.status if found else None


def test_a_list_of_hosts_that_was_cut_is_no_failure() -> None:
    """Prevents a log that ends among its ranks from failing for the hosts that were to come."""
    whole = Shape(pods=2, gpus=8)
    assert _hosts(TABLE.partition("#   Rank 12")[0], whole) is Status.MISSING
    assert _hosts(TABLE, Shape(pods=4, gpus=4)) is Status.FAIL
    assert _hosts(changed(TABLE.partition("#   Rank 12")[0], ("worker-1", "worker-0")), whole) is Status.FAIL


def test_single_gpus_have_a_name_each() -> None:
    """Prevents two ranks of one pod from passing for two pods (N-6.8)."""
    single = Shape(pods=16, gpus=1)
    assert _hosts(SINGLE_TABLE, single) is Status.PASS
    assert _hosts(changed(SINGLE_TABLE, ("worker-15 ", "worker-14 ")), single) is Status.FAIL
