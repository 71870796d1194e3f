"""Who may use which SCC."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.cluster_facts import Facts
from toolkit.review.subjects import access

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
    """Accounts that gain an SCC with more privileges are reported."""
    found = review(created(ACCOUNT), created(ROLE), created(binding(MPI)), same(LOCKS), facts=NOW)
    assert reported(access.find, found) == [
        like("namespace b may now ... IPC_LOCK"),
        like("  account b/mpi ... now ... scc-for-mpi ... was: restricted-v2 and restricted-v3 only"),
    ]


def test_a_right_that_is_taken() -> None:
    """Accounts that lose the SCC of their jobs are reported."""
    found = review(same(ACCOUNT), same(ROLE), deleted(binding(MPI)), same(LOCKS), facts=NOW)
    assert reported(access.find, found) == [
        like("namespace b ... no longer ... IPC_LOCK"),
        like("  account b/mpi ... no longer ... scc-for-mpi"),
    ]


def test_an_scc_that_comes_to_give_more() -> None:
    """A wider SCC is reported for the accounts that use it."""
    wide = scc(allowedCapabilities=["SYS_ADMIN"], allowHostNetwork=True, runAsUser={"type": "MustRunAsRange"})
    found = review(same(ACCOUNT), same(ROLE), same(binding(MPI)), updated(LOCKS, wide), facts=NOW)
    assert reported(access.find, found) == [
        like("! namespace b may now ... node's network ... SYS_ADMIN"),
        like("  account b/mpi ... already"),
        like("namespace b ... no longer ... IPC_LOCK"),
        like("  account b/mpi ... already"),
    ]


def test_groups_that_are_wide() -> None:
    """An SCC that groups of users gain is reported."""
    everybody = {"kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io"}
    found = reported(access.find, review(created(binding(everybody, cluster=True)), facts=NOW))
    assert found == [like("! group system:authenticated may now ... SCC privileged")]


def test_nothing_about_access() -> None:
    """Objects that grant nothing have no line."""
    assert reported(access.find, review(created(ACCOUNT), facts=NOW)) == []
    assert reported(access.find, review(same(ROLE), same(binding(MPI)))) == []


def test_a_role_that_is_gone_leaves_no_doubt() -> None:
    """A deleted role is reported as lost, not as undetermined."""
    for gone in ([deleted(ROLE), same(LOCKS)], [same(ROLE), deleted(LOCKS)]):
        found = review(same(ACCOUNT), *gone, same(binding(MPI)), facts=NOW, drift=True)
        assert reported(access.find, found) == [
            like("namespace b ... no longer ... IPC_LOCK"),
            like("  account b/mpi ... no longer ... scc-for-mpi"),
        ]
