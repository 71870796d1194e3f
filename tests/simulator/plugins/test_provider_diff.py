"""Differences, replacement rules, quantities."""

from typing import Any

import pytest

from simulator.plugins.provider.diff import difference, path_of_text, text_of_path
from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.shapes import prune, quantity
from simulator.plugins.provider.values import UNKNOWN, Properties

CONFIG_MAP = ObjectType("", "v1", "ConfigMap")
JOB = ObjectType("batch", "v1", "Job")
WIDGET = ObjectType("kit.example.com", "v1", "Widget")


def changes(kind: ObjectType, old: Properties, live: Properties, new: Properties, **options: Any) -> dict[str, str]:
    """Return what changes where; an operation that needs a new object has a `!`."""
    base = {"apiVersion": kind.api_version, "kind": kind.kind}
    name = {"metadata": {"name": "n"}}
    found = difference({**base, **name, **old}, {**base, **name, **live}, {**base, **name, **new}, kind, **options)
    return {text_of_path(item.path): item.operation + ("!" if item.replaces else "") for item in found.changes}


def test_server_defaults_are_no_change() -> None:
    """Prevents an endless update because the server filled in fields that nobody asked for."""
    asked = {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
    live = {"spec": {"backoffLimit": 6, "template": {"spec": {"containers": [{"name": "c", "image": "x"}], "dns": 1}}}}
    assert changes(JOB, asked, live, asked) == {}


def test_drift_is_a_change() -> None:
    """Prevents a hand-made change of a field of ours from staying unseen."""
    asked = {"data": {"a": "1", "b": "2"}}
    assert changes(
        CONFIG_MAP, asked, {"data": {"a": "x", "c": "3"}}, asked, mutable_kinds=frozenset({"ConfigMap"})
    ) == {
        "data.a": "update",
        "data.b": "add",
    }


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        (JOB, {"spec": {"template": {"a": 1}}}, {"spec": {"template": {"a": 2}}}, {"spec.template.a": "update!"}),
        (JOB, {"spec": {"template": {"a": 1}}}, {"spec": {"template": {}}}, {"spec.template.a": "delete!"}),
        (JOB, {"spec": {"ttl": 1}}, {"spec": {"ttl": 2}}, {"spec.ttl": "update"}),
        (JOB, {}, {"spec": {"completions": 2}}, {"spec": "add!"}),
        (JOB, {}, {"spec": {"ttl": 2}}, {"spec": "add"}),
        (WIDGET, {"spec": {"n": 1}}, {"spec": {"n": 2}}, {"spec.n": "update"}),
        (WIDGET, {}, {"metadata": {"name": "m"}}, {"metadata.name": "update!"}),
        (WIDGET, {}, {"metadata": {"name": "n", "annotations": {}}}, {}),
        (WIDGET, {}, {"spec": {}}, {"spec": "add"}),
        (WIDGET, {}, {"metadata": UNKNOWN}, {"metadata": "update!"}),
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
    """Prevents in-place updates that the API server refuses, and needless replacements."""
    assert changes(kind, old, old, new) == expected


def test_mutable_and_immutable_config_maps() -> None:
    """Prevents a changed ConfigMap from being replaced when the provider may change it, unless it is immutable."""
    mutable = frozenset({"ConfigMap"})
    old, new = {"data": {"a": "1"}}, {"data": {"a": "2"}}
    assert changes(CONFIG_MAP, old, old, new, mutable_kinds=mutable) == {"data.a": "update"}
    assert changes(CONFIG_MAP, old, {**old, "immutable": True}, new, mutable_kinds=mutable) == {"data.a": "update!"}


def test_patches_are_never_replaced_by_their_fields() -> None:
    """Prevents a patch of a Job's template from deleting somebody else's job."""
    patch = ObjectType("batch", "v1", "Job", patch=True)
    old, new = {"spec": {"template": {"a": 1}}}, {"spec": {"template": {"a": 2}}}
    assert changes(patch, old, old, new) == {"spec.template.a": "update"}


def test_ignored_changes() -> None:
    """Prevents a field under ignore_changes from causing an update."""
    old, new = {"spec": {"n": 1, "m": 1}}, {"spec": {"n": 2, "m": 2}}
    assert changes(WIDGET, old, old, new, ignored=(path_of_text("spec.n"),)) == {"spec.m": "update"}


def test_what_the_server_rewrites_is_no_change() -> None:
    """Prevents endless updates over quantities and empty optional fields of built-in kinds; custom kinds keep both."""
    quota = ObjectType("", "v1", "ResourceQuota")
    asked = {"spec": {"hard": {"cpu": "1000m", "gpu": 16}, "scopes": [], "paused": False}}
    live = {"spec": {"hard": {"cpu": "1", "gpu": "16"}}}
    assert changes(quota, asked, live, asked) == {}
    assert changes(WIDGET, asked, live, asked) == {
        "spec.hard.cpu": "update",
        "spec.hard.gpu": "update",
        "spec.scopes": "add",
        "spec.paused": "add",
    }


def test_names_decide_the_order_of_a_replacement() -> None:
    """Prevents AlreadyExists: an object of the same name must go first, an autonamed one need not."""
    base = {"apiVersion": "v1", "kind": "ConfigMap"}
    live = {**base, "metadata": {"name": "n", "namespace": "x"}, "data": {"a": "1"}}
    new = {**live, "data": {"a": "2"}}
    assert difference(live, live, new, CONFIG_MAP).delete_first
    autonamed = {**new, "metadata": {**live["metadata"], "annotations": {"pulumi.com/autonamed": "true"}}}  # type: ignore[dict-item]
    assert not difference(live, live, autonamed, CONFIG_MAP).delete_first


def test_namespace_that_was_left_out() -> None:
    """Prevents an object in the default namespace from being replaced because its inputs name none."""
    base = {"apiVersion": "v1", "kind": "ConfigMap"}
    live = {**base, "metadata": {"name": "n", "namespace": "default"}}
    asked = {**base, "metadata": {"name": "n"}}
    assert difference(asked, live, asked, CONFIG_MAP).changes == ()
    cluster_wide = {**base, "metadata": {"name": "n"}}
    assert difference(asked, cluster_wide, live, CONFIG_MAP).changes == ()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("spec.containers[0].image", ("spec", "containers", 0, "image")),
        ('metadata.labels["app.kubernetes.io/name"]', ("metadata", "labels", "app.kubernetes.io/name")),
        ('data["a\\"b"].c', ("data", 'a"b', "c")),
    ],
)
def test_paths(text: str, path: tuple[str | int, ...]) -> None:
    """Prevents replace_on_changes and ignore_changes from missing keys with dots in them."""
    assert text_of_path(path) == text
    assert path_of_text(text) == path


@pytest.mark.parametrize(
    ("left", "right"),
    [("1000m", "1"), ("1024Mi", "1Gi"), (16, "16"), ("1e3", "1k"), ("0.5", "500m"), ("1E", "1000P"), ("2Ki", 2048)],
)
def test_quantities(left: Any, right: Any) -> None:
    """Prevents two spellings of one amount from differing."""
    assert quantity(left) == quantity(right) is not None


def test_what_is_no_quantity() -> None:
    """Prevents texts from being compared as amounts."""
    values: tuple[Any, ...] = ("", "many", "1Xi", None, [])
    assert [quantity(value) for value in values] == [None] * 5


def test_prune_follows_the_shape() -> None:
    """Prevents other owners' fields and list elements from counting as ours."""
    live = {"a": 1, "b": [{"c": 1, "d": 2}, {"c": 3}], "e": {"f": 1}}
    assert prune(live, {"a": 0, "b": [{"c": 0}], "x": 1}) == {"a": 1, "b": [{"c": 1}]}
