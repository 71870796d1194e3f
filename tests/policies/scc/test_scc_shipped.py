"""The SCCs and ClusterRoles that OpenShift ships."""

import json
from typing import Any, get_args

import pytest

from policies.scc import USABLE_BY_ALL, Release, default_sccs, service_account
from policies.scc.rbac import Rbac
from policies.scc.shipped import own_role, shipped_roles, ships
from tests.support.published_sccs import published


@pytest.mark.parametrize("release", get_args(Release))
def test_as_published(release: Release) -> None:
    """Shipped SCCs equal OpenShift's manifests."""
    recorded = {scc["metadata"]["name"]: scc for scc in published(release)}
    ours = {scc["metadata"]["name"]: scc for scc in default_sccs(release)}
    assert ours.keys() == recorded.keys()
    for name, scc in ours.items():
        assert scc == {"users": [], "groups": [], **recorded[name]}, name


@pytest.mark.parametrize("release", get_args(Release))
def test_everybody_may_use_one(release: Release) -> None:
    """An ordinary pod is admitted with the shipped SCCs."""
    usable = USABLE_BY_ALL[release]
    names = {scc["metadata"]["name"] for scc in default_sccs(release)}
    assert usable <= names
    assert usable or any("system:authenticated" in scc["groups"] for scc in default_sccs(release))


def test_fresh_copies() -> None:
    """A caller gets a copy of the shipped SCCs."""
    first = default_sccs("current")
    for scc in first:
        scc["volumes"].append("spoiled")
        scc["fsGroup"]["type"] = "spoiled"
    assert "spoiled" not in json.dumps(default_sccs("current"))


API, GROUP = "rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io"
MPI = service_account("adas", "mpi")
NAMES = ("anyuid", "privileged", "mine")


def _binding(role: str) -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "RoleBinding",
        "metadata": {"name": "b", "namespace": "adas"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}],
    }


def _role(name: str, label: str = "", **rule: Any) -> dict[str, Any]:
    use = {
        "apiGroups": ["security.openshift.io"],
        "resources": ["securitycontextconstraints"],
        "verbs": ["use"],
        **rule,
    }
    labels = {f"{GROUP}/aggregate-to-{label}": "true"} if label else {}
    return {"apiVersion": API, "kind": "ClusterRole", "metadata": {"name": name, "labels": labels}, "rules": [use]}


@pytest.mark.parametrize(
    ("role", "release", "usable"),
    [
        ("system:openshift:scc:anyuid", "current", {"anyuid"}),
        ("system:openshift:scc:mine", "upgraded", {"mine"}),
        ("system:openshift:scc:gone", "current", set()),
        ("system:openshift:scc:anyuid", "4.4", set()),
        ("cluster-admin", "current", set(NAMES)),
        ("cluster-admin", "4.4", set(NAMES)),
        ("admin", "current", set()),
        ("system:image-puller", "current", set()),
        ("somebody-elses", "current", set()),
    ],
)
def test_what_a_shipped_role_grants(role: str, release: Release, usable: set[str]) -> None:
    """Roles that OpenShift ships count for the release that ships them."""
    rbac = Rbac([_binding(role)], shipped_roles(release))
    assert rbac.usable(MPI, "adas", NAMES) == usable
    assert bool(rbac.unresolved) is not ships(role)


def test_a_live_cluster_has_its_roles_as_objects() -> None:
    """Where all roles are given, a shipped role that is absent does not count."""
    rbac = Rbac([_binding("cluster-admin")])
    assert (rbac.usable(MPI, "adas", NAMES), len(rbac.unresolved)) == (frozenset(), 1)


def test_a_role_among_the_objects_goes_first() -> None:
    """A role among the objects replaces the shipped one."""
    given = _role("cluster-admin", resourceNames=["mine"])
    assert Rbac([given, _binding("cluster-admin")], shipped_roles("current")).usable(MPI, "adas", NAMES) == {"mine"}


def test_rules_reach_a_shipped_role_by_its_label() -> None:
    """An operator's aggregated role reaches `edit` and `admin`, not `view`."""
    added = _role("mine-edit", "edit", resourceNames=["mine"])
    for role, usable in (("edit", {"mine"}), ("admin", {"mine"}), ("view", set())):
        assert Rbac([added, _binding(role)], shipped_roles("current")).usable(MPI, "adas", NAMES) == usable


def test_the_role_of_one_scc() -> None:
    """Holders of cluster-admin are not counted among the accounts for MPI."""
    assert own_role("cluster-admin") is None
    assert Rbac([_binding("system:openshift:scc:mine")], own_role).named(MPI, "adas") == {"mine"}
