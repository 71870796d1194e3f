"""The platform's own tenant: its SCC, its RBAC and its namespace, as the program registers them for stack dev."""

from functools import cache
from typing import Any

import pytest

from policies.scc import Namespace, Verdict, admit, default_sccs, service_account
from policies.scc.rbac import Rbac
from stacks.loading.settings import load
from stacks.resolved import jobs
from stacks.settings.workloads import MpiWorkload
from tests.support.recorded import ROOT, environment
from toolkit.render.manifests import manifests

TENANT = "adas"
DEV = load("dev", ROOT)
JOBS = [job.name for job in jobs.every(DEV) if isinstance(job.workload, MpiWorkload)]


@cache
def platform() -> tuple[dict[str, Any], ...]:
    """Return the manifests of stack dev."""
    return tuple(manifests(environment("dev")))


def of_kind(kind: str) -> list[dict[str, Any]]:
    """Return the manifests of one kind."""
    return [manifest for manifest in platform() if manifest["kind"] == kind]


def worker(**security: object) -> dict[str, Any]:
    """Return a worker that adds IPC_LOCK."""
    context = {"capabilities": {"add": ["IPC_LOCK"]}, **security}
    return {"metadata": {"name": "worker-0"}, "spec": {"containers": [{"name": "main", "securityContext": context}]}}


def created(pod: dict[str, Any], account: str, without: tuple[str, ...] = ()) -> Verdict:
    """Create a pod in the tenant's namespace; `without` are kinds that were deleted."""
    objects = [manifest for manifest in platform() if manifest["kind"] not in without]
    sccs = [*default_sccs("4.4"), *of_kind("SecurityContextConstraints")]
    namespace = next(found for found in of_kind("Namespace") if found["metadata"]["name"] == TENANT)
    user = service_account(TENANT, account)
    names = {scc["metadata"]["name"] for scc in sccs}
    usable = Rbac(objects).usable(user, TENANT, names)
    asked = {**pod, "spec": {**pod["spec"], "serviceAccountName": account}}
    return admit(asked, Namespace(TENANT, namespace["metadata"]["annotations"]), user, sccs, usable)


def test_a_worker_under_the_default_account() -> None:
    """Only the account mpi may lock memory, not every pod of the namespace."""
    verdict = created(worker(), "default")
    assert not verdict.admitted
    assert (
        'provider restricted: .containers[0].capabilities.add: Invalid value: "IPC_LOCK": capability may not be added'
        in verdict.message
    )
    assert 'provider "scc-for-mpi": Forbidden: not usable by user or serviceaccount' in verdict.message


def test_a_worker_under_its_own_account() -> None:
    """The worker of an MPI job is admitted."""
    verdict = created(worker(), "mpi")
    assert verdict.scc == "scc-for-mpi"
    capabilities = verdict.pod["spec"]["containers"][0]["securityContext"]["capabilities"]
    assert capabilities["add"] == ["IPC_LOCK"]
    assert "IPC_LOCK" not in capabilities["drop"]


def test_a_pod_that_needs_nothing() -> None:
    """An ordinary pod gets the ordinary SCC."""
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main"}]}}
    assert created(pod, "mpi").scc == "restricted"


@pytest.mark.parametrize("gone", ["RoleBinding", "Role"])
def test_without_its_binding(gone: str) -> None:
    """Without its binding the account may not use the SCC."""
    assert not created(worker(), "mpi", without=(gone,)).admitted


def test_a_user_id_outside_the_range() -> None:
    """A worker cannot use another tenant's user id."""
    verdict = created(worker(runAsUser=1000), "mpi")
    assert not verdict.admitted
    assert "provider scc-for-mpi: .containers[0].runAsUser: Invalid value: 1000: must be in the ranges: [" in (
        verdict.message
    )


@pytest.mark.parametrize("name", JOBS)
def test_the_jobs_of_the_stack(name: str) -> None:
    """Every pod of the stack is admitted."""
    (job,) = (found for found in of_kind("MPIJob") if found["metadata"]["name"] == name)
    for role, replicas in job["spec"]["mpiReplicaSpecs"].items():
        template = replicas["template"]
        account = template["spec"].get("serviceAccountName", "default")
        verdict = created({"metadata": {"name": role}, **template}, account)
        assert verdict.admitted, verdict.message
        assert verdict.scc == ("scc-for-mpi" if "IPC_LOCK" in str(template) else "restricted")
