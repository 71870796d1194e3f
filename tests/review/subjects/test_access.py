"""Who may use which SCC."""

from typing import Any

from review.facts import Facts
from review.subjects import access
from tests.support.reviews import created, deleted, made, review, same, told, updated

NOW = Facts(release="4.20")
RBAC = "rbac.authorization.k8s.io/v1:"
ACCOUNT = made("core/v1:ServiceAccount", {"metadata": {"name": "mpi", "namespace": "b"}})
ROLE = made(
    f"{RBAC}Role",
    {
        "metadata": {"name": "mpi", "namespace": "b"},
        "rules": [
            {
                "apiGroups": ["security.openshift.io"],
                "resources": ["securitycontextconstraints"],
                "resourceNames": ["scc-for-mpi"],
                "verbs": ["use"],
            }
        ],
    },
)


def binding(*subjects: dict[str, str], cluster: bool = False) -> Any:
    """Return a binding to the role, or everywhere to the shipped role of `privileged`."""
    role = "system:openshift:scc:privileged" if cluster else "mpi"
    kind = "ClusterRole" if cluster else "Role"
    where = {} if cluster else {"namespace": "b"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
    fields = {"metadata": {"name": "mpi", **where}, "roleRef": reference, "subjects": list(subjects)}
    return made(f"{RBAC}{'ClusterRoleBinding' if cluster else 'RoleBinding'}", fields)


def scc(**fields: Any) -> Any:
    """Return the SCC."""
    return made("security.openshift.io/v1:SecurityContextConstraints", {"metadata": {"name": "scc-for-mpi"}, **fields})


MPI = {"kind": "ServiceAccount", "name": "mpi", "namespace": "b"}
LOCKS = scc(allowedCapabilities=["IPC_LOCK"], runAsUser={"type": "MustRunAsRange"})


def test_a_right_that_is_given() -> None:
    """Prevents a review in which nobody sees that pods of a namespace come to lock memory."""
    found = review(created(ACCOUNT), created(ROLE), created(binding(MPI)), same(LOCKS), facts=NOW)
    assert told(access.find, found) == [
        "namespace b may now run pods with IPC_LOCK",
        "  account b/mpi may now use SCC scc-for-mpi (was: restricted-v2 and restricted-v3 only)",
    ]


def test_a_right_that_is_taken() -> None:
    """Prevents jobs that are refused after an update that looked harmless."""
    found = review(same(ACCOUNT), same(ROLE), deleted(binding(MPI)), same(LOCKS), facts=NOW)
    assert told(access.find, found) == [
        "namespace b may no longer run pods with IPC_LOCK",
        "  account b/mpi may no longer use SCC scc-for-mpi",
    ]


def test_an_scc_that_comes_to_give_more() -> None:
    """Prevents a wider SCC that is told as a change of three fields."""
    wide = scc(allowedCapabilities=["SYS_ADMIN"], allowHostNetwork=True, runAsUser={"type": "MustRunAsRange"})
    found = review(same(ACCOUNT), same(ROLE), same(binding(MPI)), updated(LOCKS, wide), facts=NOW)
    assert told(access.find, found) == [
        "! namespace b may now run pods with the node's network and SYS_ADMIN",
        "  account b/mpi, by an SCC that it may use already",
        "namespace b may no longer run pods with IPC_LOCK",
        "  account b/mpi, by an SCC that it may use already",
    ]


def test_groups_that_are_wide() -> None:
    """Prevents an SCC for everybody that no account's line tells."""
    everybody = {"kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io"}
    found = told(access.find, review(created(binding(everybody, cluster=True)), facts=NOW))
    assert found == ["! group system:authenticated may now use SCC privileged"]


def test_nothing_about_access() -> None:
    """Prevents lines for objects that grant nothing."""
    assert told(access.find, review(created(ACCOUNT), facts=NOW)) == []
    assert told(access.find, review(same(ROLE), same(binding(MPI)))) == []


def test_a_role_that_is_gone_leaves_no_doubt() -> None:
    """Prevents a line of what is not known beside the one that says what is lost."""
    for gone in ([deleted(ROLE), same(LOCKS)], [same(ROLE), deleted(LOCKS)]):
        found = review(same(ACCOUNT), *gone, same(binding(MPI)), facts=NOW, drift=True)
        assert told(access.find, found) == [
            "namespace b may no longer run pods with IPC_LOCK",
            "  account b/mpi may no longer use SCC scc-for-mpi",
        ]
