"""Firmware of the adapters of several nodes."""

from tests.support.mutated import read_text
from tests.toolkit.evidence.tools.logs import IBSTAT
from toolkit.evidence.criteria.comparisons import COMPARISONS
from toolkit.evidence.verdict import Ended, Job, Request, Status

SAME = next(comparison for comparison in COMPARISONS if comparison.name == "same-firmware")
OTHER = IBSTAT.replace("20.31.1014", "20.28.1002")


def _jobs(*logs: str) -> list[Job]:
    return [
        Job(request=Request(job=f"t/node-{number}"), ended=Ended.SUCCEEDED, readings=read_text(log))
        for number, log in enumerate(logs)
    ]


def test_nodes_with_one_firmware_pass() -> None:
    """Nodes whose adapters of one kind have one version pass, with one verdict on all of them."""
    ((names, found),) = SAME.compare(_jobs(IBSTAT, IBSTAT))
    assert names == "t/node-0, t/node-1"
    assert found.status is Status.PASS


def test_another_version_is_named_with_its_job() -> None:
    """A node with another version fails, and both versions are named with a job."""
    ((_, found),) = SAME.compare(_jobs(IBSTAT, OTHER, "nothing\n"))
    assert found.status is Status.FAIL
    assert "20.28.1002 (t/node-1)" in found.measured
    assert "20.31.1014 (t/node-0)" in found.measured


def test_one_node_is_nothing_to_compare() -> None:
    """With one node that shows its adapters there is no verdict."""
    assert [*SAME.compare(_jobs(IBSTAT, "nothing\n"))] == []
