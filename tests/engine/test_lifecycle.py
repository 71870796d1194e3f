"""Objects from their creation to their end, as the official provider would treat them."""

import pytest
import yaml

from cli.shared.backends.store import FolderStore
from tests.engine.kit import Cluster, Stack, config_map, thing, widget

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
    # The quota's "1000m" and 16 come back as "1" and "16", which is no change.
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
    # What a person added by hand goes as well: kubectl's changes are taken over, other managers' are not.
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


def test_existing_object_is_refused_imported_or_taken(stack: Stack, api: Cluster, namespace: str) -> None:
    """An existing object is refused, unless the program imports it or the provider upserts existing objects."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name in ("found", "kept"):
        api.request("POST", path, {"metadata": {"name": name}, "data": {"a": "1"}}, manager="somebody")
    stack.configure(config_map("found", namespace, {"a": "1"}))
    refused = stack.up()
    assert refused.status != 0
    assert 'configmaps "found" already exists' in refused.text

    stack.configure(
        config_map("found", namespace, {"a": "1"}, options={"import_": f"{namespace}/found"}),
    )
    imported = stack.up()
    assert imported.status == 0, imported.text
    assert "1 imported" in imported.text
    stack.configure(config_map("found", namespace, {"a": "1"}))
    unchanged = stack.preview("--expect-no-changes")
    assert unchanged.status == 0, unchanged.text

    stack.configure(
        config_map("found", namespace, {"a": "1"}),
        config_map("kept", namespace, {"a": "1", "b": "2"}),
        provider=stack.provider(upsert_existing_objects=True),
    )
    taken = stack.up()
    assert taken.status == 0, taken.text
    assert api.get(f"{path}/kept")["data"] == {"a": "1", "b": "2"}


def test_retained_object_stays(stack: Stack, api: Cluster, namespace: str) -> None:
    """An object with retainOnDelete leaves the state and stays on the cluster: the engine asks no provider then."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/kept"
    stack.configure(config_map("kept", namespace, {"a": "1"}, options={"retain_on_delete": True}))
    assert stack.up().status == 0
    stack.configure()
    gone = stack.up()
    assert gone.status == 0, gone.text
    assert "kept" not in stack.resources()
    assert api.get(path)["data"] == {"a": "1"}


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


@pytest.mark.usefixtures("widgets")
def test_server_rejects(stack: Stack, namespace: str) -> None:
    """A refused object is an error with the server's message and the object's name, in previews and in updates."""
    bad = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "Not A Name", "namespace": namespace},
        "data": {"a": "1"},
    }
    stack.configure(thing("bad", "kubernetes:core/v1:ConfigMap", bad))
    for outcome in (stack.preview(), stack.up()):
        assert outcome.status != 0
        assert 'ConfigMap "Not A Name" is invalid' in outcome.text
        assert "a lowercase RFC 1123 subdomain" in outcome.text
    stack.configure(widget("w", namespace, {}, annotations={"pulumi.com/waitFor": "Ready"}))
    unclear = stack.up()
    assert unclear.status != 0
    assert 'expected a "jsonpath=" or "condition=" prefix' in unclear.text


@pytest.mark.parametrize(
    "change",
    [("server", "https://127.0.0.1:9"), ("token", "wrong")],
)
def test_unreachable(stack: Stack, namespace: str, change: tuple[str, str]) -> None:
    """An update of a cluster that cannot be reached fails with a message, without a traceback."""
    content = yaml.safe_load(stack.cluster.kubeconfig.read_text())
    key, value = change
    if key == "server":
        content["clusters"][0]["cluster"]["server"] = value
    else:
        content["users"][0]["user"] = {"token": value}
    stack.configure(
        config_map("settings", namespace, {"a": "1"}), provider=stack.provider(kubeconfig=yaml.safe_dump(content))
    )
    preview = stack.preview()
    assert preview.status == 0
    failed = stack.up()
    assert failed.status != 0
    assert "configured Kubernetes cluster is unreachable" in failed.text
    assert "Traceback" not in failed.text
