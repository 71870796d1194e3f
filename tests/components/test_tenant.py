"""Tenants."""

from components.tenant import IdRange
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
