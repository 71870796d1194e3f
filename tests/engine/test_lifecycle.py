"""Objects from their creation to their end, as the official provider would treat them."""

import pytest

from tests.engine.kit import Cluster, Stack, config_map, thing, widget
from toolkit.cli.shared.backends.store import FolderStore

pytestmark = pytest.mark.engine


def test_up_preview_refresh_destroy(stack: Stack, api: Cluster, namespace: str) -> None:
    """A preview after an update shows no change, a refresh finds drift, an update repairs it, destroy deletes all."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/settings"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "mpi", "namespace": namespace}}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "quota", "namespace": namespace},
        "spec": {"hard": {"requests.nvidia.com/gpu": 16, "requests.cpu": "1000m", "requests.memory": "1024Mi"}},
    }
    objects = [
        config_map("settings", namespace, {"a": "1", "b": "2"}),
        thing("mpi", "kubernetes:core/v1:ServiceAccount", account),
        thing("quota", "kubernetes:core/v1:ResourceQuota", quota),
    ]
    stack.configure(*objects, provider=stack.provider(enable_config_map_mutable=True))
    first = stack.up()
    assert first.status == 0, first.text
    # The quota's "1000m" and 16 come back as "1" and "16", which is not a change.
    unchanged = stack.preview("--expect-no-changes")
    assert unchanged.status == 0, unchanged.text

    api.patch(path, {"data": {"a": "by hand", "c": "also by hand"}})
    api.patch(path, {"data": {"d": "a controller's"}}, manager="controller")
    refreshed = stack.refresh()
    assert refreshed.status == 0, refreshed.text
    assert "~ 1 updated" in refreshed.text
    assert stack.preview().steps("update") == {"settings"}
    # A key that leaves the program leaves the object, although the object was made by POST.
    stack.configure(
        config_map("settings", namespace, {"a": "1"}),
        *objects[1:],
        provider=stack.provider(enable_config_map_mutable=True),
    )
    repaired = stack.up()
    assert repaired.status == 0, repaired.text
    # What a user added by hand goes as well: kubectl's changes are taken over, other managers' are not.
    assert api.get(path)["data"] == {"a": "1", "d": "a controller's"}

    destroyed = stack.destroy()
    assert destroyed.status == 0, destroyed.text
    assert api.get(path) is None
    assert api.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/mpi") is None
    assert api.get(f"/api/v1/namespaces/{namespace}/resourcequotas/quota") is None


def test_attributes_that_a_kill_left_empty_stop_no_stack(stack: Stack, namespace: str) -> None:
    """The engine cannot read a whole state beside whose file an empty `.attrs` lies; without it, it can."""
    stack.configure(config_map("settings", namespace, {"a": "1"}))
    done = stack.up()
    assert done.status == 0, done.text
    store, key = FolderStore(stack.folder.parent / "backend"), f".pulumi/stacks/{stack.project}/{stack.name}.json"
    attributes = store.folder / f"{key}.attrs"
    whole = attributes.read_bytes()
    store.remove_unreadable_attributes(key)
    assert attributes.read_bytes() == whole

    attributes.write_bytes(b"")
    refused = stack.preview()
    assert refused.status != 0
    assert "failed to load checkpoint: EOF" in refused.text
    store.remove_unreadable_attributes(key)
    unchanged = stack.preview("--expect-no-changes")
    assert unchanged.status == 0, unchanged.text


def test_alias_across_versions(stack: Stack, api: Cluster, namespace: str, widgets: str) -> None:
    """With an alias, another API version of the same kind updates the object in place."""
    path = f"/apis/{widgets}/v1/namespaces/{namespace}/widgets/w"
    stack.configure(widget("w", namespace, {"n": 1}, version="v1beta1"))
    assert stack.up().status == 0
    uid = api.get(path)["metadata"]["uid"]
    aliases = {"aliases": [f"kubernetes:{widgets}/v1beta1:Widget"]}
    stack.configure(widget("w", namespace, {"n": 1, "m": 2}, options=aliases))
    preview = stack.preview()
    assert preview.steps("update") == {"w"}, preview.text
    changed = stack.up()
    assert changed.status == 0, changed.text
    assert (api.get(path)["metadata"]["uid"], api.get(path)["spec"]) == (uid, {"n": 1, "m": 2})
    assert stack.preview("--expect-no-changes").status == 0
    assert stack.refresh().status == 0


def test_custom_kind_made_in_the_same_update(stack: Stack, api: Cluster, namespace: str) -> None:
    """Objects of a CRD of the same update are created when it is established; a kind that no CRD defines is named."""
    group = "late.example.com"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"plural": "lates", "kind": "Late"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"lates.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    # Top-level fields beside spec, as a SecurityContextConstraints has them.
    late = {
        "apiVersion": f"{group}/v1",
        "kind": "Late",
        "metadata": {"name": "late", "namespace": namespace},
        "priority": 0,
        "list": [],
        "deep": {"x": [{"y": 1.5}]},
    }
    stack.configure(
        thing("definition", "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", definition),
        thing("late", f"kubernetes:{group}/v1:Late", late, options={"depends_on": ["definition"]}),
    )
    assert stack.preview().status == 0
    done = stack.up()
    assert done.status == 0, done.text
    live = api.get(f"/apis/{group}/v1/namespaces/{namespace}/lates/late")
    assert (live["priority"], live["list"], live["deep"]) == (0, [], {"x": [{"y": 1.5}]})
    assert stack.preview("--expect-no-changes").status == 0
    stack.configure(thing("nobody", "kubernetes:nobody.example.com/v1:Nobody", {"metadata": {"name": "nobody"}}))
    missing = stack.up()
    assert missing.status != 0
    assert "with kind nobody.example.com/v1/Nobody failed because" in missing.text
    assert "the apiVersion for this resource does not exist. Verify that any required CRDs have been" in missing.text
    assert stack.destroy().status == 0
    assert api.get(f"/apis/{group}/v1") is None
