"""Rights by RBAC."""

from typing import Any

from review.model import Change, Op
from review.subjects import rights
from tests.support.reviews import created, deleted, made, review, same, told, updated

RBAC = "rbac.authorization.k8s.io/v1:"


def role(*rules: tuple[str, str, str]) -> Any:
    """Return a ClusterRole; a rule is groups, resources and verbs, each with commas."""
    written = [
        {"apiGroups": groups.split(","), "resources": resources.split(","), "verbs": verbs.split(",")}
        for groups, resources, verbs in rules
    ]
    return made(f"{RBAC}ClusterRole", {"metadata": {"name": "r"}, "rules": written})


def binding(name: str = "r", role: str = "r") -> Any:
    """Return a binding of an account to a ClusterRole."""
    return made(
        f"{RBAC}ClusterRoleBinding",
        {
            "metadata": {"name": name},
            "roleRef": {"kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "op", "namespace": "ops"}],
        },
    )


PODS = role(("", "pods", "get,list"))


def test_a_role_that_widens() -> None:
    """Prevents a role that comes to read secrets in a diff of fifty lines."""
    wide = role(("", "pods,secrets", "get,list"), ("batch", "jobs", "*"))
    assert told(rights.find, review(updated(PODS, wide), same(binding()))) == [
        "! account ops/op may now, in the whole cluster:",
        "  do everything with jobs.batch",
        "  get and list secrets",
    ]


def test_a_binding_that_comes_and_one_that_goes() -> None:
    """Prevents a binding of two lines that gives everything."""
    admin = created(binding("admin", "cluster-admin"))
    assert told(rights.find, review(admin)) == [
        "! account ops/op may now, in the whole cluster: whatever ClusterRole cluster-admin allows, "
        "which is not among the objects"
    ]
    assert told(rights.find, review(same(PODS), deleted(binding()))) == [
        "account ops/op may no longer, in the whole cluster: get and list pods"
    ]


def test_another_binding_with_the_same_rights() -> None:
    """Prevents an alarm for a binding that only has another name."""
    assert told(rights.find, review(same(PODS), deleted(binding()), created(binding("other")))) == []


def test_a_role_of_nobody() -> None:
    """Prevents silence about a role that somebody outside of the stack may be bound to."""
    assert told(rights.find, review(updated(PODS, role(("", "pods", "get"))))) == [
        "ClusterRole r, to which nobody is bound here, may no longer, in the whole cluster: list pods"
    ]


def test_a_role_that_is_gone_allows_nothing() -> None:
    """Prevents the news that an account may do more, where somebody deleted the role that it is bound to."""
    assert told(rights.find, review(deleted(PODS), same(binding()), drift=True)) == [
        "account ops/op may no longer, in the whole cluster: get and list pods"
    ]
    assert told(rights.find, review(created(PODS), same(binding()))) == [
        "account ops/op may now, in the whole cluster: get and list pods"
    ]
    assert told(rights.find, review(Change(Op.FORGET, PODS, None), same(binding()))) == []


def test_use_of_sccs_is_told_elsewhere() -> None:
    """Prevents the same thing twice."""
    use = role(("security.openshift.io", "securitycontextconstraints", "use"))
    assert told(rights.find, review(created(use), created(binding()))) == []
