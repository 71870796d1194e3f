"""The rules on SCCs over SCCs that others wrote, and the comparison that they share."""

from typing import Any, get_args

import pytest

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.rule import Finding
from policies.scc import Release, default_sccs
from policies.views.constraints import differing_fields, shipped
from tests.policies.conftest import rule_named
from tests.support.published_sccs import published

CONTENT = ("scc-narrow-groups", "scc-capabilities-disjoint", "scc-known-strategies", "scc-required-keys")


def _found(sccs: list[dict[str, Any]]) -> list[Finding]:
    found = [Obj(scc) for scc in sccs]
    return list(Checker([rule_named(name) for name in CONTENT]).check(found, Inventory(found, complete=True)))


@pytest.mark.parametrize("release", get_args(Release))
def test_what_openshift_ships_passes(release: Release) -> None:
    """The rules accept the SCCs that OpenShift ships."""
    assert [str(finding) for finding in _found([*default_sccs(release)])] == []


def test_what_vendors_ship() -> None:
    """Of operators' SCCs the rules find only wide groups."""
    assert {finding.rule for finding in _found([*published("vendors")])} == {"scc-narrow-groups"}


def test_the_rules_do_find_something_in_them() -> None:
    """The SCCs of the tests above are examined."""
    broken = [{**scc, "runAsUser": {"type": "Anybody"}} for scc in default_sccs("current")]
    assert sum(finding.rule == "scc-known-strategies" for finding in _found(broken)) == len(broken)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("allowedCapabilities", []),
        ("users", None),
        ("priority", 0),
        ("volumes", ["secret", "projected", "persistentVolumeClaim", "emptyDir", "downwardAPI", "configMap"]),
        ("requiredDropCapabilities", ["CAP_KILL", "MKNOD", "setuid", "SETGID"]),
        ("fsGroup", {"type": "MustRunAs", "ranges": None}),
        ("seccompProfiles", []),
    ],
)
def test_spelling_is_no_difference(field: str, value: Any) -> None:
    """Another spelling of the same value is no difference."""
    base = shipped("4.4")["restricted"]
    assert differing_fields({**base, field: value}, base) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("volumes", None),
        ("volumes", []),
        ("allowPrivilegeEscalation", False),
        ("priority", 1),
        ("fsGroup", {"type": "RunAsAny"}),
        ("unheardOf", True),
    ],
)
def test_a_difference_is_seen(field: str, value: Any) -> None:
    """Another value is a difference; null volumes mean every volume."""
    base = shipped("4.4")["restricted"]
    assert differing_fields({**base, field: value}, base) == (field,)


def test_a_deep_tree_is_no_matter() -> None:
    """A deeply nested SCC does not raise."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert differing_fields({"runAsUser": deep}, {}) == ("runAsUser",)
