"""Tenants."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.tenant import ContainerResources, IdRange, Tenant, TenantArgs
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import environment, one


def test_only_the_tenants_account_may_use_the_scc() -> None:
    """Prevents the binding from naming fields that RBAC does not have, or an account of another namespace (E-14)."""
    binding = one(environment("dev"), "RoleBinding", "mpi").inputs
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "mpi"}
    role = one(environment("dev"), "Role", "mpi").inputs
    assert role["rules"] == [
        {
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "resourceNames": ["scc-for-mpi"],
            "verbs": ["use"],
        }
    ]


def test_namespace_has_its_own_ids() -> None:
    """Prevents OpenShift from choosing a range in which the data's owner is not (R-4.3-6)."""
    assert one(environment("dev"), "Namespace", "adas").inputs["metadata"]["annotations"] == {
        "openshift.io/sa.scc.uid-range": "1075480000/10000",
        "openshift.io/sa.scc.supplemental-groups": "1075480000/10000",
        "openshift.io/sa.scc.mcs": "s0:c27,c24",
    }


def test_gpus_are_bounded_per_tenant() -> None:
    """Prevents one team from taking all GPUs."""
    quota = one(environment("dev"), "ResourceQuota").inputs
    assert quota["spec"] == {"hard": {"requests.nvidia.com/gpu": "16"}}


def test_ranges_touch_without_overlapping() -> None:
    """Prevents refusing two neighbouring blocks, and accepting two that share one id."""
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
    """Prevents a new object in clusters that are there already."""
    kinds = ["Namespace", "ResourceQuota", "Role", "RoleBinding", "ServiceAccount"]
    assert [manifest["kind"] for manifest in tenant()] == kinds
    assert [manifest["kind"] for manifest in tenant(**FULL)] == sorted([*kinds, "LimitRange", "NetworkPolicy"])


def test_without_an_scc_of_ours_nothing_is_granted() -> None:
    """Prevents a role on an Ethernet platform that names an SCC which nobody makes."""
    assert [manifest["kind"] for manifest in tenant(scc_name=None)] == ["Namespace", "ResourceQuota", "ServiceAccount"]


def test_queued_namespaces_say_so_to_the_operator() -> None:
    """Prevents jobs that name a queue and run beside it, for Kueue does not look into their namespace."""
    assert only(tenant(queued=True), "Namespace")["metadata"]["labels"]["kueue.openshift.io/managed"] == "true"
    assert "kueue.openshift.io/managed" not in only(tenant(), "Namespace")["metadata"]["labels"]


@pytest.mark.parametrize("level", ["privileged", "restricted"])
def test_level_of_pod_security_is_ours_and_not_synced_away(level: str) -> None:
    """Prevents pods with IPC_LOCK from being refused by the namespace, and a level that OpenShift sets back."""
    found = only(tenant(pod_security=level), "Namespace")["metadata"]["labels"]
    assert {key: value for key, value in found.items() if "app.kubernetes.io" not in key} == {
        "pod-security.kubernetes.io/enforce": level,
        "pod-security.kubernetes.io/audit": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
        "security.openshift.io/scc.podSecurityLabelSync": "false",
    }


def test_isolated_tenant_is_reached_from_itself_and_from_the_named_alone() -> None:
    """Prevents another tenant from reaching sshd of the workers, and workers that do not reach each other."""
    assert only(tenant(isolated=True), "NetworkPolicy")["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
    }
    peers = only(tenant(**FULL), "NetworkPolicy")["spec"]["ingress"][0]["from"]
    monitoring = {"matchLabels": {"kubernetes.io/metadata.name": "openshift-monitoring"}}
    assert peers == [{"podSelector": {}}, {"namespaceSelector": monitoring}]


def test_containers_that_say_nothing_are_bounded() -> None:
    """Prevents a helper that takes the node's memory; GPUs have no default, or every helper would hold one."""
    (item,) = only(tenant(**FULL), "LimitRange")["spec"]["limits"]
    amounts = {"cpu": "500m", "memory": "512Mi"}
    assert item == {"type": "Container", "default": amounts, "defaultRequest": amounts}


def test_exceptions_of_no_isolation_are_refused() -> None:
    """Prevents the belief that only the named namespaces reach a tenant."""
    with pytest.raises(ValidationError, match="reachable_from openshift-monitoring has no effect"):
        tenant(reachable_from=("openshift-monitoring",))


def test_tenants_pass_our_rules() -> None:
    """Prevents a tenant that the update refuses."""
    assert faults(tenant()) == []
    assert faults(tenant(**FULL)) == []
    assert faults(tenant(scc_name=None, queued=True)) == []
