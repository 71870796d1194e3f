"""Pods of the Redpaper's tenant before the simulated cluster's SCC admission, as its controllers would submit them."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from core.apis import kinds
from tests.support.clusters import running
from tests.support.lab import eventually
from tests.support.recorded import environment
from toolkit.render.manifests import manifests
from toolkit.simulator import cluster
from toolkit.simulator.actors.api import Api, ApiError, Server
from toolkit.simulator.cluster import Cluster, ClusterSpec
from toolkit.simulator.names import ADMITTED_BY

pytestmark = pytest.mark.cluster

TENANT = "adas"
SCC = "openshift.io/scc"
NOT_ADMITTED = "unable to validate against any security context constraint: ["
WANTED = {
    (kinds.SECURITY_CONTEXT_CONSTRAINTS.kind, "scc-for-mpi"),
    (kinds.NAMESPACE.kind, TENANT),
    *((kind.kind, "mpi") for kind in (kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING)),
}
SUBMITTER = "submitter"
"""An account that may make pods and nothing else: the user, as system:masters, may use every SCC."""


@dataclass(frozen=True)
class Tenant:
    """The tenant's namespace: `api` is the administrator, `submitter` the account."""

    started: Cluster
    api: Api
    submitter: Api
    worker: dict[str, Any]
    binding: dict[str, Any]

    def pod(self, name: str, *, account: str = "mpi", **container: Any) -> dict[str, Any]:
        """Return a worker of the two-node NCCL job."""
        spec = {**self.worker, "serviceAccountName": account}
        spec["containers"] = [{**self.worker["containers"][0], **container}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": TENANT}, "spec": spec}

    @property
    def context(self) -> dict[str, Any]:
        """The security context of the worker's container."""
        found: dict[str, Any] = self.worker["containers"][0]["securityContext"]
        return found

    def submit(self, name: str, **changes: Any) -> dict[str, Any]:
        """Create a worker as the submitter; raises ApiError."""
        return self.submitter.create(kinds.POD, self.pod(name, **changes), TENANT)

    def refused(self, name: str, **changes: Any) -> str:
        """Return why a worker is not admitted."""
        with pytest.raises(ApiError) as caught:
            self.submit(name, **changes)
        assert (caught.value.status, caught.value.reason) == (403, "Forbidden")
        return caught.value.message

    def range(self) -> int:
        """Return the first user id of the namespace."""
        annotations = self.api.get(kinds.NAMESPACE, TENANT)["metadata"]["annotations"]
        return int(annotations["openshift.io/sa.scc.uid-range"].partition("/")[0])

    def level(self) -> str:
        """Return the SELinux level of the namespace."""
        found: str = self.api.get(kinds.NAMESPACE, TENANT)["metadata"]["annotations"]["openshift.io/sa.scc.mcs"]
        return found

    def bind(self) -> None:
        """Make the account's RoleBinding."""
        self.api.apply(kinds.ROLE_BINDING, self.binding)

    def unbind(self) -> None:
        """Delete the account's RoleBinding."""
        self.api.delete(kinds.ROLE_BINDING, "mpi", TENANT)


def account_of(api: Api, server: Server) -> Api:
    """Return access as an account of the tenant's namespace that may make and change pods."""
    rules = [{"apiGroups": [""], "resources": ["pods", "pods/ephemeralcontainers"], "verbs": ["*"]}]
    metadata = {"name": SUBMITTER, "namespace": TENANT}
    role = {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.kind, "name": SUBMITTER}
    subjects = [{"kind": kinds.SERVICE_ACCOUNT.kind, **metadata}]
    for kind, fields in (
        (kinds.SERVICE_ACCOUNT, {}),
        (kinds.ROLE, {"rules": rules}),
        (kinds.ROLE_BINDING, {"roleRef": role, "subjects": subjects}),
    ):
        api.apply(kind, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": dict(metadata), **fields})
    asked = {"spec": {"expirationSeconds": 3600}}
    answer = api.create(kinds.SERVICE_ACCOUNT, asked, TENANT, name=SUBMITTER, sub="token")
    token: str = answer["status"]["token"]
    return Api(server, lambda: token, SUBMITTER)


@pytest.fixture(scope="module")
def tenant() -> Iterator[Tenant]:
    """Give the tenant of stack dev on a cluster without nodes: admission comes before any of them."""
    declared = {(found["kind"], found["metadata"]["name"]): found for found in manifests(environment("dev"))}
    job = declared[kinds.MPI_JOB_V1ALPHA2.kind, "nccl-test-02x08"]
    worker = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    with running(ClusterSpec(name="test-scc")) as started:
        server = Server(started.kubeconfig)
        token = server.token
        api = Api(server, lambda: token, "the test")
        for kind in (
            *(kinds.NAMESPACE, kinds.SECURITY_CONTEXT_CONSTRAINTS),
            *(kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING),
        ):
            for name in sorted(name for wanted, name in WANTED if wanted == kind.kind):
                api.apply(kind, declared[kind.kind, name])
        eventually(lambda: api.find(kinds.SERVICE_ACCOUNT, "default", TENANT) is not None, "no default account")
        yield Tenant(started, api, account_of(api, server), worker, declared[kinds.ROLE_BINDING.kind, "mpi"])


def test_ipc_lock_under_the_default_account_is_refused(tenant: Tenant) -> None:
    """A worker with IPC_LOCK under an account without the SCC is refused."""
    message = tenant.refused("default-account", account="default")
    assert f'pods "default-account" is forbidden: {NOT_ADMITTED}' in message
    assert 'provider restricted: .containers[0].capabilities.add: Invalid value: "IPC_LOCK"' in message
    assert 'provider "scc-for-mpi": Forbidden: not usable by user or serviceaccount' in message


def test_mpi_is_admitted_by_its_scc_and_filled_in(tenant: Tenant) -> None:
    """scc-for-mpi admits the worker, and fills in user, group and SELinux level of the namespace."""
    context = {key: value for key, value in tenant.context.items() if key != "runAsUser"}
    made = tenant.submit("of-mpi", securityContext=context)
    first, level = tenant.range(), tenant.level()
    assert made["metadata"]["annotations"][SCC] == "scc-for-mpi"
    assert "prediction" in made["metadata"]["annotations"][ADMITTED_BY]
    assert made["spec"]["securityContext"]["fsGroup"] == first
    assert made["spec"]["securityContext"]["seLinuxOptions"] == {"level": level}
    security = made["spec"]["containers"][0]["securityContext"]
    assert security["runAsUser"] == first
    assert security["capabilities"]["add"] == ["IPC_LOCK"]
    assert {"KILL", "MKNOD", "SETUID", "SETGID"} <= set(security["capabilities"]["drop"])


def test_without_the_role_binding_it_is_refused_at_once(tenant: Tenant) -> None:
    """After the role binding is deleted the very next pod is refused, ten times in a row."""
    for number in range(10):
        tenant.unbind()
        message = tenant.refused(f"unbound-{number}")
        assert 'provider "scc-for-mpi": Forbidden: not usable by user or serviceaccount' in message
        tenant.bind()
        assert tenant.submit(f"bound-{number}")["metadata"]["annotations"][SCC] == "scc-for-mpi"


def test_the_sccs_of_the_cluster_count(tenant: Tenant) -> None:
    """A change of an SCC applies to the next pod."""
    kind = kinds.SECURITY_CONTEXT_CONSTRAINTS
    whole = tenant.api.get(kind, "scc-for-mpi")["allowedCapabilities"]
    for number in range(5):
        tenant.api.patch(kind, "scc-for-mpi", {"allowedCapabilities": []})
        message = tenant.refused(f"not-allowed-{number}")
        assert "provider scc-for-mpi: .containers[0].capabilities.add" in message
        tenant.api.patch(kind, "scc-for-mpi", {"allowedCapabilities": whole})
        tenant.submit(f"allowed-{number}")


def test_a_user_id_outside_the_range_is_refused(tenant: Tenant) -> None:
    """A user id outside the namespace's range is refused, root as well; the last id of the range is admitted."""
    first = tenant.range()
    for name, user in (("root", 0), ("beyond", first + 10_000)):
        message = tenant.refused(name, securityContext={**tenant.context, "runAsUser": user})
        assert (
            f"provider scc-for-mpi: .containers[0].runAsUser: Invalid value: {user}: must be in the ranges" in message
        )
    inside = tenant.submit("inside", securityContext={**tenant.context, "runAsUser": first + 9_999})
    assert inside["spec"]["containers"][0]["securityContext"]["runAsUser"] == first + 9_999


def test_a_change_is_judged_again(tenant: Tenant) -> None:
    """A changed pod is admitted again: without the right, a change of its labels is refused."""
    tenant.submit("changed")
    tenant.submitter.patch(kinds.POD, "changed", {"metadata": {"labels": {"a": "1"}}}, TENANT)
    tenant.unbind()
    try:
        tenant.submitter.patch(kinds.POD, "changed", {"metadata": {"finalizers": []}}, TENANT)
        with pytest.raises(ApiError, match="unable to validate against any security context constraint"):
            tenant.submitter.patch(kinds.POD, "changed", {"metadata": {"labels": {"a": "2"}}}, TENANT)
    finally:
        tenant.bind()


def test_exempt_namespaces_and_masters(tenant: Tenant) -> None:
    """Exempt namespaces have no SCC admission, and an administrator may use every SCC."""
    level = {"metadata": {"name": "early", "labels": {"openshift.io/run-level": "1"}}}
    tenant.api.apply(kinds.NAMESPACE, {"apiVersion": "v1", "kind": kinds.NAMESPACE.kind, **level})
    eventually(lambda: tenant.api.find(kinds.SERVICE_ACCOUNT, "default", "early") is not None, "no default account")
    for namespace in ("kube-system", "early"):
        made = tenant.pod("exempt", account="default")
        made["metadata"]["namespace"] = namespace
        assert SCC not in tenant.api.create(kinds.POD, made, namespace)["metadata"].get("annotations", {})
    by_user = tenant.api.create(kinds.POD, tenant.pod("by-user", account="default"), TENANT)
    assert by_user["metadata"]["annotations"][SCC] == "scc-for-mpi"


def test_workers_at_once(tenant: Tenant) -> None:
    """Sixteen workers created at the same time are all admitted, each with its own user id."""

    def one(number: int) -> int:
        user = tenant.range() + number
        made = tenant.submit(f"at-once-{number}", securityContext={**tenant.context, "runAsUser": user})
        found: int = made["spec"]["containers"][0]["securityContext"]["runAsUser"]
        return found - tenant.range()

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(one, range(16))) == list(range(16))


def test_a_killed_webhook_keeps_pods_out_until_it_is_started_again(tenant: Tenant) -> None:
    """Without the webhook pods are refused and the status is partial; `up` starts the webhook again."""
    (process,) = [one for one in cluster.status(tenant.started.home).processes if one.name == "scc-admission"]
    assert process.port is not None
    os.kill(process.pid, signal.SIGKILL)
    eventually(lambda: cluster.status(tenant.started.home).state == "partial", "its death is not seen")
    with pytest.raises(ApiError, match=r'failed calling webhook "securitycontextconstraint\.hpc\.sim"'):
        tenant.submit("unjudged")
    again = cluster.up(ClusterSpec(name="test-scc"), tenant.started.home)
    assert again.started == ("scc-admission",)
    assert tenant.submit("judged-again")["metadata"]["annotations"][SCC] == "scc-for-mpi"
    log = (tenant.started.home / "logs" / "scc-admission.log").read_text()
    assert "simulated" in log.splitlines()[0]
