"""Who may use an SCC by RBAC."""

from dataclasses import dataclass
from typing import Any

import pytest

from policies.manifests.values import Unknown
from policies.scc.rbac import Rbac

GROUP = "rbac.authorization.k8s.io"
API = f"{GROUP}/v1"
RULE = {
    "apiGroups": ["security.openshift.io"],
    "resources": ["securitycontextconstraints"],
    "resourceNames": ["scc-for-mpi"],
    "verbs": ["use"],
}
NAMES = ("restricted", "scc-for-mpi", "privileged")
MPI = {"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}


@dataclass(frozen=True)
class User:
    """A requester."""

    name: str
    groups: tuple[str, ...] = ()


ACCOUNT = User("system:serviceaccount:adas:mpi", ("system:serviceaccounts", "system:serviceaccounts:adas"))


def role(rules: Any, name: str = "use-scc", namespace: str = "adas", **more: Any) -> dict[str, Any]:
    """Return a role, or a cluster role without a namespace."""
    kind, place = ("Role", {"namespace": namespace}) if namespace else ("ClusterRole", {})
    labels = more.pop("labels", {})
    metadata = {"name": name, "labels": labels, **place}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "rules": rules, **more}


def binding(*subjects: Any, namespace: str = "adas", to: str = "Role", name: str = "use-scc") -> dict[str, Any]:
    """Return a binding, or a cluster role binding without a namespace."""
    kind, place = ("RoleBinding", {"namespace": namespace}) if namespace else ("ClusterRoleBinding", {})
    reference = {"apiGroup": GROUP, "kind": to, "name": name}
    metadata = {"name": "binding", **place}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": list(subjects)}


def usable(objects: list[Any], user: User = ACCOUNT, namespace: str = "adas") -> set[str]:
    """Return what a user may use."""
    return set(Rbac(objects).usable(user, namespace, NAMES))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"scc-for-mpi"}),
        ({"verbs": ["*"]}, {"scc-for-mpi"}),
        ({"apiGroups": ["*"]}, {"scc-for-mpi"}),
        ({"resources": ["*"]}, {"scc-for-mpi"}),
        ({"resourceNames": []}, set(NAMES)),
        ({"resourceNames": None}, set(NAMES)),
        ({"resourceNames": ["*"]}, set()),
        ({"resourceNames": ["gone"]}, set()),
        ({"verbs": ["get"]}, set()),
        ({"apiGroups": [""]}, set()),
        ({"resources": ["securitycontextconstraints/status"]}, set()),
        ({"verbs": "use"}, set()),
        ({"verbs": None}, set()),
        ({"resourceNames": [{}, "scc-for-mpi"]}, {"scc-for-mpi"}),
    ],
)
def test_a_rule_grants(changes: dict[str, Any], expected: set[str]) -> None:
    """A wildcard matches every name, and a resource name `*` only itself."""
    assert usable([role([RULE | changes]), binding(MPI)]) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (MPI, True),
        ({"kind": "ServiceAccount", "name": "mpi"}, True),
        ({"kind": "ServiceAccount", "name": "mpi", "namespace": "other"}, False),
        ({"kind": "ServiceAccount", "name": "mpi", "apiGroup": GROUP}, False),
        ({"kind": "User", "name": "system:serviceaccount:adas:mpi"}, True),
        ({"kind": "User", "name": "mpi"}, False),
        ({"kind": "User", "name": ACCOUNT.name, "apiGroup": "wrong"}, False),
        ({"kind": "Group", "name": "system:serviceaccounts:adas", "apiGroup": GROUP}, True),
        ({"kind": "Group", "name": "system:serviceaccounts:other"}, False),
        ({"kind": "group", "name": "system:serviceaccounts:adas"}, False),
        ("mpi", False),
        (None, False),
    ],
)
def test_a_subject_is_bound(subject: object, *, expected: bool) -> None:
    """A service account is not a user of its short name, and its groups count."""
    assert usable([role([RULE]), binding(subject)]) == ({"scc-for-mpi"} if expected else set())


def test_a_role_counts_in_its_namespace_and_a_cluster_role_where_it_is_bound() -> None:
    """A grant of one namespace does not apply in another."""
    local = [role([RULE]), binding(MPI)]
    assert usable(local, namespace="other") == set()
    everywhere = role([RULE], namespace="")
    assert usable([everywhere, binding(MPI, to="ClusterRole")], namespace="other") == set()
    assert usable([everywhere, binding(MPI, to="ClusterRole")]) == {"scc-for-mpi"}
    assert usable([everywhere, binding(MPI, namespace="", to="ClusterRole")], namespace="other") == {"scc-for-mpi"}
    assert usable([role([RULE]), binding(MPI, namespace="", to="Role")]) == set()


def test_masters_may_use_everything() -> None:
    """The predicted answer is that of the API server's authorizer."""
    assert usable([], User("kube:admin", ("system:masters",))) == set(NAMES)


def test_aggregated_rules_count() -> None:
    """Rules that a role gets by aggregation count."""
    label = {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    to_admin = {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}
    objects = [
        role([RULE], "mpi", "", labels=label),
        role([], "edit", "", labels=to_admin, aggregationRule={"clusterRoleSelectors": [{"matchLabels": label}]}),
        role(
            None,
            "admin",
            "",
            labels=label,  # a circle
            aggregationRule={"clusterRoleSelectors": [{"matchLabels": to_admin}, None]},
        ),
    ]
    assert usable([*objects, binding(MPI, to="ClusterRole", name="admin")]) == {"scc-for-mpi"}


def test_an_aggregation_selects_by_expressions_and_without_a_condition_everything() -> None:
    """The API server takes both: an empty selector is for every ClusterRole of the cluster."""
    part = role([RULE], "part", "", labels={"part": "mpi"})
    bound = binding(MPI, to="ClusterRole", name="sum")
    for selector, expected in (
        ({"matchExpressions": [{"key": "part", "operator": "In", "values": ["mpi"]}]}, {"scc-for-mpi"}),
        ({"matchExpressions": [{"key": "part", "operator": "DoesNotExist"}]}, set()),
        ({"matchLabels": {}}, set(NAMES)),
    ):
        whole = role(None, "sum", "", aggregationRule={"clusterRoleSelectors": [selector]})
        assert usable([part, whole, bound]) == expected


def test_it_says_who_may_use_an_scc_by_which_binding() -> None:
    """A grant names the binding and the subject that give it."""
    group = {"kind": "Group", "name": "system:authenticated"}
    narrow, wide = binding(MPI, None, group), binding(group, namespace="", to="ClusterRole", name="all")
    rbac = Rbac([role([RULE]), role([RULE | {"resourceNames": []}], "all", ""), narrow, wide])
    found = [(grant.binding, str(subject), subject.index) for grant, subject in rbac.users("scc-for-mpi")]
    assert found == [
        (narrow, "ServiceAccount adas/mpi", 0),
        (narrow, "Group system:authenticated", 2),
        (wide, "Group system:authenticated", 0),
    ]
    assert len(list(rbac.users("restricted"))) == 1


def test_a_binding_without_its_role_is_distinguished() -> None:
    """A binding to a role that is not among the objects is undetermined."""
    lost = binding(MPI)
    assert Rbac([lost]).unresolved == (lost,)
    assert Rbac([lost, role([])]).unresolved == ()


def test_it_says_which_unknown_roles_a_user_has_and_which_sccs_they_name() -> None:
    """An unresolved binding makes only its own subjects undetermined."""
    other = {"kind": "ServiceAccount", "name": "other", "namespace": "adas"}
    rbac = Rbac([role([RULE], "known"), binding(MPI, name="known"), binding(MPI), binding(other, name="others")])
    assert list(rbac.unknown_roles(ACCOUNT, "adas")) == [("Role", "use-scc")]
    assert list(rbac.unknown_roles(ACCOUNT, "other")) == []
    assert rbac.named(ACCOUNT, "adas") == {"scc-for-mpi"}
    assert rbac.named(User("alice"), "adas") == frozenset()


HOSTILE: tuple[Any, ...] = (
    *(None, 1, "x", [], {}, {"kind": "Role"}, {"apiVersion": 1, "kind": []}, role(7), role([None, 1, {}, []])),
    *(role([RULE], name=3), role([RULE], namespace=[]), role([RULE | {"resourceNames": {"a": 1}}])),  # type: ignore[arg-type]
    *(role([RULE], "r", "", labels=[]), role([RULE], "r", "", labels={1: [], "a": {}}), role([], aggregationRule=3)),
    {"apiVersion": API, "kind": "ClusterRoleBinding", "metadata": None, "roleRef": [], "subjects": "mpi"},
    {**binding(MPI), "roleRef": {"kind": {}, "name": [], "apiGroup": 3}},
    {**binding(MPI), "metadata": {"name": [], "namespace": {}}},
    binding({"kind": [], "name": {}, "namespace": 3}, {"kind": "User", "name": Unknown(("a",)), "apiGroup": []}),
    role(Unknown(("rules",))),
    role([RULE | {"verbs": [[], {}], "resourceNames": Unknown(("names",))}]),
)


@pytest.mark.parametrize("tree", HOSTILE, ids=range(len(HOSTILE)))
def test_malformed_objects_are_passed_over(tree: Any) -> None:
    """A malformed manifest raises nothing, and hides no other grant."""
    assert usable([tree, role([RULE], "sound"), binding(MPI, name="sound")]) == {"scc-for-mpi"}
