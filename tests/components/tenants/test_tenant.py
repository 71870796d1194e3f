"""Tenants."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.tenants.tenant import ContainerResources, IdRange, Tenant, TenantArgs
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import environment, of_kind, only_object


def test_only_the_tenants_account_may_use_the_scc() -> None:
    """Role and binding grant the SCC to the tenant's account alone."""
    binding = only_object(environment("dev"), "RoleBinding", "mpi").inputs
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "mpi"}
    role = only_object(environment("dev"), "Role", "mpi").inputs
    assert role["rules"] == [
        {
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "resourceNames": ["scc-for-mpi"],
            "verbs": ["use"],
        }
    ]


def test_namespace_has_its_own_ids() -> None:
    """The namespace has the ids and SELinux level of the settings."""
    assert only_object(environment("dev"), "Namespace", "adas").inputs["metadata"]["annotations"] == {
        "openshift.io/sa.scc.uid-range": "1075480000/10000",
        "openshift.io/sa.scc.supplemental-groups": "1075480000/10000",
        "openshift.io/sa.scc.mcs": "s0:c27,c24",
    }


def test_claims_are_counted_by_class_and_nothing_else_gives_gpus() -> None:
    """A quota of nvidia.com/gpu counts no claims: it is 0, as that of classes of which the tenant has nothing."""
    (quota,) = (
        item.inputs
        for item in of_kind(environment("h200-dra"), "ResourceQuota")
        if item.inputs["metadata"]["namespace"] == "inference"
    )
    assert quota["spec"]["hard"] == {
        "requests.nvidia.com/gpu": "0",
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "8",
        "mig.nvidia.com.deviceclass.resource.k8s.io/devices": "0",
        "vfio.gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "0",
    }
    racks = only_object(environment("gb200-nvl72"), "ResourceQuota").inputs["spec"]["hard"]
    assert racks["requests.nvidia.com/gpu"] == "144"
    assert racks["compute-domain-default-channel.nvidia.com.deviceclass.resource.k8s.io/devices"] == "36"


def test_gpus_are_bounded_per_tenant() -> None:
    """A ResourceQuota limits the tenant's GPUs."""
    quota = only_object(environment("dev"), "ResourceQuota").inputs
    assert quota["spec"] == {"hard": {"requests.nvidia.com/gpu": "16"}}


def test_ranges_touch_without_overlapping() -> None:
    """Neighbouring ranges do not overlap; ranges with a common id do."""
    first = IdRange(start=1000, size=10)
    assert 1009 in first
    assert 1010 not in first
    assert not first.overlaps(IdRange(start=1010, size=10))
    assert first.overlaps(IdRange(start=1009, size=10))


def tenant(**changed: Any) -> list[Manifest]:
    """Return what a tenant consists of."""
    wanted = {
        "namespace": "adas",
        "uid_range": IdRange(start=1075480000),
        "mcs": "s0:c27,c24",
        "gpu_quota": 16,
        "scc_name": "scc-for-mpi",
        **changed,
    }
    args = TenantArgs.model_validate(wanted)
    return declared(lambda: Tenant("adas", args))


FULL: dict[str, Any] = {
    "pod_security": "privileged",
    "container_resources": ContainerResources(cpu="500m", memory="512Mi"),
    "isolated": True,
    "reachable_from": ("openshift-monitoring",),
}


def test_nothing_more_is_made_unless_wanted() -> None:
    """LimitRange and NetworkPolicy exist only if set."""
    kinds = ["Namespace", "ResourceQuota", "Role", "RoleBinding", "ServiceAccount"]
    assert [manifest["kind"] for manifest in tenant()] == kinds
    assert [manifest["kind"] for manifest in tenant(**FULL)] == sorted([*kinds, "LimitRange", "NetworkPolicy"])


def test_without_an_scc_of_ours_nothing_is_granted() -> None:
    """Without an SCC there is no role and no binding."""
    assert [manifest["kind"] for manifest in tenant(scc_name=None)] == ["Namespace", "ResourceQuota", "ServiceAccount"]


def test_queued_namespaces_say_so_to_the_operator() -> None:
    """A queued namespace has the label that Kueue requires."""
    assert only(tenant(queued=True), "Namespace")["metadata"]["labels"]["kueue.openshift.io/managed"] == "true"
    assert "kueue.openshift.io/managed" not in only(tenant(), "Namespace")["metadata"]["labels"]


@pytest.mark.parametrize("level", ["privileged", "restricted"])
def test_level_of_pod_security_is_ours_and_not_synced_away(level: str) -> None:
    """The level of pod security is set, and OpenShift's synchronization is off."""
    found = only(tenant(pod_security=level), "Namespace")["metadata"]["labels"]
    assert {key: value for key, value in found.items() if "app.kubernetes.io" not in key} == {
        "pod-security.kubernetes.io/enforce": level,
        "pod-security.kubernetes.io/audit": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
        "security.openshift.io/scc.podSecurityLabelSync": "false",
    }


def test_isolated_tenant_is_reached_from_itself_and_from_the_named_alone() -> None:
    """An isolated tenant admits connections from itself and the named namespaces alone."""
    assert only(tenant(isolated=True), "NetworkPolicy")["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
    }
    peers = only(tenant(**FULL), "NetworkPolicy")["spec"]["ingress"][0]["from"]
    monitoring = {"matchLabels": {"kubernetes.io/metadata.name": "openshift-monitoring"}}
    assert peers == [{"podSelector": {}}, {"namespaceSelector": monitoring}]


def test_containers_that_say_nothing_are_bounded() -> None:
    """Containers without resources get the defaults, which have no GPU."""
    (item,) = only(tenant(**FULL), "LimitRange")["spec"]["limits"]
    amounts = {"cpu": "500m", "memory": "512Mi"}
    assert item == {"type": "Container", "default": amounts, "defaultRequest": amounts}


def test_exceptions_of_no_isolation_are_refused() -> None:
    """reachable_from without isolated is refused."""
    with pytest.raises(ValidationError, match="reachable_from openshift-monitoring has no effect"):
        tenant(reachable_from=("openshift-monitoring",))


def test_tenants_pass_our_rules() -> None:
    """The policies have no finding about a tenant."""
    assert faults(tenant()) == []
    assert faults(tenant(**FULL)) == []
    assert faults(tenant(scc_name=None, queued=True)) == []
