"""`./hpc scc check`: what the API server answers, beside what was declared and predicted."""

from collections.abc import Mapping
from typing import Any

import pytest

from stacks.loading.settings import load
from toolkit.cli.scc import check, explanation
from toolkit.cli.scc.check import Admitted, Right, exit_status
from toolkit.cli.scc.cluster import Cluster
from toolkit.cli.shared.paths import ROOT

SETTINGS = load("dev", ROOT)
IPC_LOCK = {"capabilities": {"add": ["IPC_LOCK"], "drop": ["ALL"]}}


class Server:
    """Answers with the accounts that may use the SCC, and remembers what it was asked."""

    def __init__(self, *allowed: str) -> None:
        self._allowed = allowed
        self.asked: list[Mapping[str, str]] = []

    def access(self, user: str, groups: tuple[str, ...], wanted: Mapping[str, str]) -> tuple[bool, str]:
        """Answer."""
        assert "system:serviceaccounts:adas" in groups
        self.asked.append(wanted)
        return user in self._allowed, ""


def pod(name: str, scc: str | None, *, namespace: str = "adas", security: Any = None) -> dict[str, Any]:
    """Return a pod as a list of the API has it."""
    marks = {"openshift.io/scc": scc} if scc else {}
    container = {"name": "c", "image": "example/i:1", "securityContext": security or {}}
    meta = {"name": name, "namespace": namespace, "annotations": marks}
    return {"metadata": meta, "spec": {"serviceAccountName": "mpi", "containers": [container]}}


@pytest.fixture(scope="module")
def predicted() -> Cluster:
    """Return the cluster as the stack declares it."""
    objects, release = explanation.of_stack("dev")
    return Cluster(objects, explanation.known_release(release))


def test_the_tenants_account_alone_may_use_the_scc() -> None:
    """The server is asked for `use` of the SCC by name, in the namespace, for both accounts."""
    server = Server("system:serviceaccount:adas:mpi")
    found = [*check.rights(SETTINGS, server)]
    assert [(each.account, each.expected, each.allowed, each.agrees) for each in found] == [
        ("adas/mpi", True, True, True),
        ("adas/default", False, False, True),
    ]
    assert server.asked[0] == {
        "verb": "use",
        "group": "security.openshift.io",
        "resource": "securitycontextconstraints",
        "name": "scc-for-mpi",
        "namespace": "adas",
    }


@pytest.mark.parametrize("allowed", [(), ("system:serviceaccount:adas:mpi", "system:serviceaccount:adas:default")])
def test_a_right_that_is_missing_or_too_much_differs(allowed: tuple[str, ...]) -> None:
    """Both a missing right and one of the default account are differences."""
    assert not all(each.agrees for each in check.rights(SETTINGS, Server(*allowed)))


def test_without_rdma_there_is_no_such_scc() -> None:
    """Over Ethernet no account needs it, and none is asked for."""
    assert [*check.rights(load("robotic-drive-ethernet", ROOT), Server())] == []


def test_annotations_are_compared_with_the_prediction(predicted: Cluster) -> None:
    """Pods with IPC_LOCK are admitted by the SCC for MPI, others by the restricted one."""
    pods = [
        pod("worker", "scc-for-mpi", security=IPC_LOCK),
        pod("plain", "restricted"),
        pod("wide", "anyuid"),
        pod("unknown", None),
        pod("elsewhere", "privileged", namespace="kube-system"),
    ]
    builds = pod("multinode-1-build", "privileged")
    builds["metadata"]["labels"] = {"openshift.io/build.name": "multinode-1"}
    pods.append(builds)
    found = {each.pod: each for each in check.admitted(pods, SETTINGS, predicted)}
    assert {name: each.agrees for name, each in found.items()} == {
        "adas/worker": True,
        "adas/plain": True,
        "adas/wide": False,
        "adas/unknown": False,
    }
    assert (found["adas/wide"].scc, found["adas/wide"].predicted) == ("anyuid", "restricted")


def test_no_pod_is_no_proof() -> None:
    """Exit status 2 without pods, 1 with a difference, else 0."""
    right, pod_ = Right("adas/mpi", True, True, ""), Admitted("adas/w", "scc-for-mpi", "scc-for-mpi")
    assert exit_status([right], []) == 2
    assert exit_status([right], [pod_]) == 0
    assert exit_status([Right("adas/mpi", True, False, "")], [pod_]) == 1
    assert exit_status([right], [Admitted("adas/w", "anyuid", "scc-for-mpi")]) == 1
