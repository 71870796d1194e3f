"""Commands that remove what others have added."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.pulumi_values import REDACTED
from toolkit.review import live, removal_commands
from toolkit.review.model import CHANGED, Change, Op, Resource

NAMED = {"name": "x", "namespace": "a"}
RBAC = "rbac.authorization.k8s.io/v1:RoleBinding"
SCC = "security.openshift.io/v1:SecurityContextConstraints"
ANN, EVE, JOE = ({"kind": "User", "name": each} for each in ("ann", "eve's", "joe"))


def drifted(kind: str, declared: Mapping[str, Any], seen: Mapping[str, Any], **reported: Any) -> Change:
    """Return a drifted object."""
    before = Resource("u", f"kubernetes:{kind}", {"metadata": NAMED, **declared}, live={"metadata": NAMED, **seen})
    after = replace(before, inputs={**live.as_live(before), **reported})
    return Change(Op.UPDATE, replace(before, live={}), after)


def steps(change: Change) -> list[dict[str, Any]]:
    """Return the patch in a command, as a shell reads it."""
    words = shlex.split(removal_commands.patch_command(change, "kubectl --context lab"))
    assert words[:6] == ["kubectl", "--context", "lab", "-n", "a", "patch"]
    assert words[7:11] == ["x", "--type", "json", "-p"]
    return list(json.loads(words[11]))


def test_entries_of_lists_go_if_they_are_still_there() -> None:
    """The command tests the entries that it removes, and removes the last of a list first."""
    change = drifted(RBAC, {"subjects": [ANN]}, {"subjects": [EVE, ANN, JOE]})
    assert removal_commands.is_only_additions(change)
    assert steps(change) == [
        {"op": "test", "path": "/subjects/2", "value": JOE},
        {"op": "remove", "path": "/subjects/2"},
        {"op": "test", "path": "/subjects/0", "value": EVE},
        {"op": "remove", "path": "/subjects/0"},
    ]
    assert " patch rolebinding.v1.rbac.authorization.k8s.io x " in removal_commands.patch_command(change, "kubectl")


@pytest.mark.parametrize(
    ("kind", "declared", "seen", "expected"),
    [
        ("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "1", "a/b~c": "x"}}, "remove /data/a~1b~0c"),
        ("core/v1:ResourceQuota", {"spec": {"hard": {}}}, {"spec": {"hard": {"pods": "9"}}}, "remove /spec/hard/pods"),
        (SCC, {}, {"allowHostNetwork": True}, "replace /allowHostNetwork"),
        (SCC, {}, {"allowedUnsafeSysctls": ["*"]}, "replace /allowedUnsafeSysctls"),
    ],
)
def test_what_is_more_goes(kind: str, declared: dict[str, Any], seen: dict[str, Any], expected: str) -> None:
    """A field that a definition requires is emptied instead of removed."""
    change = drifted(kind, declared, seen)
    assert removal_commands.is_only_additions(change)
    assert [f"{step['op']} {step['path']}" for step in steps(change)] == [expected]


def test_what_is_not_only_more() -> None:
    """An object with drift beside additions is repaired, and a changed secret is not an addition."""
    assert not removal_commands.is_only_additions(
        drifted("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "2", "m": "x"}})
    )
    assert not removal_commands.is_only_additions(
        drifted("core/v1:ConfigMap", {"data": {"k": "1"}}, {"data": {"k": "2"}})
    )
    hidden = {"data": {"p": REDACTED}}
    assert not removal_commands.is_only_additions(drifted("core/v1:Secret", hidden, hidden, data={"p": CHANGED}))
    gone = Change(Op.DELETE, Resource("u", "kubernetes:core/v1:ConfigMap", {}), None)
    assert (removal_commands.added(gone), removal_commands.is_only_additions(gone)) == ((), False)


def test_an_object_without_a_namespace_is_deleted_by_its_name() -> None:
    """The command for a cluster-scoped kind names no namespace."""
    inputs = {"metadata": {"name": "gpu", "namespace": "default"}}
    pool = Resource("u", "kubernetes:example.com/v1:Pool", inputs, live={"metadata": {"name": "gpu"}})
    assert removal_commands.deletion_command(pool, "kubectl") == "kubectl delete pool.v1.example.com gpu"
