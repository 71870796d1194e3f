"""Differences and replacement rules."""

from typing import Any

import pytest

from toolkit.engine.prediction.diff import difference, path_of_text, text_of_path
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.values import UNKNOWN, Properties, prune

CONFIG_MAP = ObjectType("", "v1", "ConfigMap")
JOB = ObjectType("batch", "v1", "Job")
WIDGET = ObjectType("kit.example.com", "v1", "Widget")


def changes(kind: ObjectType, old: Properties, live: Properties, new: Properties, **options: Any) -> dict[str, str]:
    """Return what changes where; an operation that needs a new object has a `!`."""
    base = {"apiVersion": kind.api_version, "kind": kind.kind}
    name = {"metadata": {"name": "n"}}
    found = difference({**base, **name, **old}, {**base, **name, **live}, {**base, **name, **new}, kind, **options)
    return {text_of_path(item.path): item.operation + ("!" if item.replaces else "") for item in found.changes}


def _template(policy: str) -> Properties:
    return {"spec": {"template": {"spec": {"restartPolicy": policy}}}}


def test_server_defaults_are_no_change() -> None:
    """Fields that only the server set are not a change."""
    requested = {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
    live = {"spec": {"backoffLimit": 6, "template": {"spec": {"containers": [{"name": "c", "image": "x"}], "dns": 1}}}}
    assert changes(JOB, requested, live, requested) == {}


def test_drift_is_a_change() -> None:
    """A manual change of a declared field is a change."""
    requested = {"data": {"a": "1", "b": "2"}}
    assert changes(
        CONFIG_MAP, requested, {"data": {"a": "x", "c": "3"}}, requested, mutable_kinds=frozenset({"ConfigMap"})
    ) == {
        "data.a": "update",
        "data.b": "add",
    }


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        (JOB, _template("a"), _template("b"), {"spec.template.spec.restartPolicy": "update!"}),
        (JOB, _template("a"), {"spec": {"template": {"spec": {}}}}, {"spec.template.spec.restartPolicy": "delete!"}),
        (JOB, {"spec": {"backoffLimit": 1}}, {"spec": {"backoffLimit": 2}}, {"spec.backoffLimit": "update"}),
        (JOB, {}, {"spec": {"completions": 2}}, {"spec": "add!"}),
        (JOB, {}, {"spec": {"backoffLimit": 2}}, {"spec": "add"}),
        (WIDGET, {"spec": {"n": 1}}, {"spec": {"n": 2}}, {"spec.n": "update"}),
        (WIDGET, {}, {"metadata": {"name": "m"}}, {"metadata.name": "update!"}),
        (WIDGET, {}, {"metadata": {"name": "n", "annotations": {}}}, {"metadata.annotations": "add"}),
        (WIDGET, {"spec": {"n": 1}}, {"spec": UNKNOWN}, {"spec.n": "delete"}),
        (WIDGET, {}, {"spec": {}}, {"spec": "add"}),
        (WIDGET, {}, {"metadata": UNKNOWN}, {"metadata.name": "delete!"}),
        (WIDGET, {}, {"metadata": {"name": "n", "annotations": UNKNOWN}}, {"metadata.annotations": "add"}),
        (CONFIG_MAP, {"data": {"a": "1"}}, {"data": {"a": UNKNOWN}}, {"data.a": "update!"}),
        (CONFIG_MAP, {"data": {"a": "1"}}, {"data": {"a": "1", "b": "2"}}, {"data.b": "add!"}),
        (
            ObjectType("", "v1", "Pod"),
            {"spec": {"containers": [{"image": "a"}]}},
            {"spec": {"containers": [{"image": "b"}]}},
            {"spec.containers[0].image": "update!"},
        ),
        (
            ObjectType("rbac.authorization.k8s.io", "v1", "RoleBinding"),
            {"roleRef": {"name": "a"}, "subjects": [1, 2]},
            {"roleRef": {"name": "b"}, "subjects": [1]},
            {"roleRef.name": "update!", "subjects[1]": "delete"},
        ),
    ],
)
def test_replacement_rules(kind: ObjectType, old: Properties, new: Properties, expected: dict[str, str]) -> None:
    """A change is a replacement exactly where the API server refuses it in place."""
    assert changes(kind, old, old, new) == expected


def test_mutable_and_immutable_config_maps() -> None:
    """A ConfigMap is changed in place where the provider may, unless it is immutable."""
    mutable = frozenset({"ConfigMap"})
    old, new = {"data": {"a": "1"}}, {"data": {"a": "2"}}
    assert changes(CONFIG_MAP, old, old, new, mutable_kinds=mutable) == {"data.a": "update"}
    fixed = {"immutable": True}
    found = changes(CONFIG_MAP, {**old, **fixed}, {**old, **fixed}, {**new, **fixed}, mutable_kinds=mutable)
    assert found == {"data.a": "update!"}


def test_patches_are_never_replaced_by_their_fields() -> None:
    """A patch never replaces the object that it patches."""
    patch = ObjectType("batch", "v1", "Job", patch=True)
    old, new = _template("a"), _template("b")
    assert changes(patch, old, old, new) == {"spec.template.spec.restartPolicy": "update"}


def test_ignored_changes() -> None:
    """A field under ignore_changes causes no update."""
    old, new = {"spec": {"n": 1, "m": 1}}, {"spec": {"n": 2, "m": 2}}
    assert changes(WIDGET, old, old, new, ignored=(path_of_text("spec.n"),)) == {"spec.m": "update"}


def test_what_the_server_rewrites_is_no_change() -> None:
    """Quantities and empty optional fields of built-in kinds are not a change; custom kinds keep both."""
    quota = ObjectType("", "v1", "ResourceQuota")
    requested = {"spec": {"hard": {"cpu": "1000m", "gpu": 16}, "scopes": []}}
    live = {"spec": {"hard": {"cpu": "1", "gpu": "16"}}}
    assert changes(quota, requested, live, requested) == {}
    assert changes(WIDGET, requested, live, requested) == {
        "spec.hard.cpu": "update",
        "spec.hard.gpu": "update",
        "spec.scopes": "add",
    }


def test_names_decide_the_order_of_a_replacement() -> None:
    """An object of the same name is deleted before its replacement, an autonamed one after it."""
    base = {"apiVersion": "v1", "kind": "ConfigMap"}
    live = {**base, "metadata": {"name": "n", "namespace": "x"}, "data": {"a": "1"}}
    new = {**live, "data": {"a": "2"}}
    assert difference(live, live, new, CONFIG_MAP).delete_first
    autonamed = {**new, "metadata": {**live["metadata"], "annotations": {"pulumi.com/autonamed": "true"}}}  # type: ignore[dict-item]
    assert not difference(live, live, autonamed, CONFIG_MAP).delete_first


def test_namespace_that_was_left_out() -> None:
    """Inputs without a namespace mean the default one."""
    base = {"apiVersion": "v1", "kind": "ConfigMap"}
    live = {**base, "metadata": {"name": "n", "namespace": "default"}}
    requested = {**base, "metadata": {"name": "n"}}
    assert difference(requested, live, requested, CONFIG_MAP).changes == ()
    cluster_wide = {**base, "metadata": {"name": "n"}}
    assert difference(requested, cluster_wide, live, CONFIG_MAP).changes == ()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("spec.containers[0].image", ("spec", "containers", 0, "image")),
        ('metadata.labels["app.kubernetes.io/name"]', ("metadata", "labels", "app.kubernetes.io/name")),
        ('data["a\\"b"].c', ("data", 'a"b', "c")),
    ],
)
def test_paths(text: str, path: tuple[str | int, ...]) -> None:
    """Paths of replace_on_changes and ignore_changes may have keys with dots."""
    assert text_of_path(path) == text
    assert path_of_text(text) == path


def test_prune_follows_the_shape() -> None:
    """Fields and list elements of other owners are left out of the comparison."""
    live = {"a": 1, "b": [{"c": 1, "d": 2}, {"c": 3}], "e": {"f": 1}}
    assert prune(live, {"a": 0, "b": [{"c": 0}], "x": 1}) == {"a": 1, "b": [{"c": 1}]}
