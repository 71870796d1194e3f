"""Rights by RBAC."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.model import Change, Op
from toolkit.review.subjects import rights

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
    """A role that comes to read secrets is an alarm."""
    wide = role(("", "pods,secrets", "get,list"), ("batch", "jobs", "*"))
    assert reported(rights.find, review(updated(PODS, wide), same(binding()))) == [
        like("! account ops/op may now ... whole cluster"),
        "  do everything with jobs.batch",
        "  get and list secrets",
    ]


def test_a_binding_that_comes_and_one_that_goes() -> None:
    """A binding to a wide role is an alarm."""
    admin = created(binding("admin", "cluster-admin"))
    assert reported(rights.find, review(admin)) == [
        like("! account ops/op may now ... whole cluster ... ClusterRole cluster-admin ... not among the objects")
    ]
    assert reported(rights.find, review(same(PODS), deleted(binding()))) == [
        like("account ops/op ... no longer ... whole cluster ... get and list pods")
    ]


def test_another_binding_with_the_same_rights() -> None:
    """A renamed binding changes no rights."""
    assert reported(rights.find, review(same(PODS), deleted(binding()), created(binding("other")))) == []


def test_a_role_without_subjects() -> None:
    """A changed role without bindings in the stack is reported."""
    assert reported(rights.find, review(updated(PODS, role(("", "pods", "get"))))) == [
        like("ClusterRole r ... no one is bound ... no longer ... whole cluster ... list pods")
    ]


def test_a_role_that_is_gone_allows_nothing() -> None:
    """A role that was deleted out of band is not a gain of rights."""
    assert reported(rights.find, review(deleted(PODS), same(binding()), drift=True)) == [
        like("account ops/op ... no longer ... whole cluster ... get and list pods")
    ]
    assert reported(rights.find, review(created(PODS), same(binding()))) == [
        like("account ops/op may now ... whole cluster ... get and list pods")
    ]
    assert reported(rights.find, review(Change(Op.FORGET, PODS, None), same(binding()))) == []


def test_use_of_sccs_is_reported_elsewhere() -> None:
    """Rights to use SCCs are reported in their own section only."""
    use = role(("security.openshift.io", "securitycontextconstraints", "use"))
    assert reported(rights.find, review(created(use), created(binding()))) == []
