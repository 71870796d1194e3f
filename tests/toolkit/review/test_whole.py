"""Whole comments about changes of our own stacks."""

from typing import Any

import pytest

from tests.support.comments import broken
from tests.support.reviews import nothing, reviewed
from toolkit.review import comment, terminal
from toolkit.review.model import Review
from toolkit.review.subjects import SUBJECTS, refuse_unlisted


def run_again(settings: dict[str, Any]) -> None:
    """Raise the run of a job."""
    settings["stages"][1]["workloads"][0]["run"] = 2


def new_drivers(settings: dict[str, Any]) -> None:
    """Take other drivers."""
    settings["gpu"]["driver"]["version"] = "595.92.01"
    settings["fabric"]["plugin"]["driver"]["version"] = "doca3.5.0-26.07-1.0.0.0-1"


def other_kubelet(settings: dict[str, Any]) -> None:
    """Configure the kubelet in another way."""
    settings["tuning"]["kubelet"]["topology_policy"] = "none"


def open_tenant(settings: dict[str, Any]) -> None:
    """Let all namespaces reach a tenant."""
    settings["tenants"][0]["isolated"] = False
    settings["tenants"][0].pop("reachable_from")


def unprotected(settings: dict[str, Any]) -> None:
    """Take the protection away."""
    settings["protect"] = False


@pytest.mark.parametrize(
    ("edit", "sentences"),
    [
        (nothing, ["Nothing changes."]),
        (
            run_again,
            [
                "1 object: 1 replaced.",
                "- `MPIJob` `adas/nccl-test-04x08` starts again, with 32 GPUs and 4 of each of 8 RDMA devices",
            ],
        ),
        (
            new_drivers,
            [
                "- GPU driver `595.92.01` (was `595.91.07`) on 4 nodes: each node loads it when",
                "- network driver `doca3.5.0-26.07-1.0.0.0-1` (was `doca3.4.1-26.04-1.1.0.0-1`) on 4 nodes",
            ],
        ),
        (
            other_kubelet,
            [
                "- ⚠️ pool `gpu`: 4 nodes drain and restart, one after another, about 1 h in all",
                "  - `KubeletConfig` `gpu-numa` is updated",
                "-     topologyManagerPolicy: best-effort\n+     topologyManagerPolicy: none\n",
            ],
        ),
        (
            open_tenant,
            [
                "- ⚠️ namespace `adas` loses `NetworkPolicy` `adas/tenant-only`: nothing else restricts",
                "- `adas` changes: reachable from: everywhere (was itself and `openshift-monitoring`)",
            ],
        ),
        (unprotected, ["- ⚠️ 26 objects no longer protected from deletion: "]),
    ],
)
def test_a_change_of_prod(edit: Any, sentences: list[str]) -> None:
    """The comment on a change of prod reports its consequences."""
    found = reviewed(edit)
    written = comment.write(found)
    assert [each for each in sentences if each not in written] == []
    assert broken(written) == []
    assert comment.write(Review(found.stack, found.changes, facts=found.facts)) == written
    assert "`" not in terminal.write(found).split("\n\n")[0], "a terminal gets the words alone"


def test_a_subject_that_no_review_shows_is_refused() -> None:
    """A module of the folder whose `find` is not in SUBJECTS fails at import."""
    with pytest.raises(
        TypeError, match=r"subjects/findings\.py: find_warnings is not in SUBJECTS.*add findings\.find_warnings"
    ):
        refuse_unlisted(["access", "findings"], [find for find in SUBJECTS if find.__name__ != "find_warnings"])
