"""What is recorded, who owns what, and which cluster is meant."""

import pytest
import yaml

from toolkit.engine.prediction.values import Properties, Secret, plain
from toolkit.simulator.provider import state
from toolkit.simulator.provider.cluster_objects import forced_in_preview, transferred
from toolkit.simulator.provider.connection import warning_texts
from toolkit.simulator.provider.settings import BadSettingsError, kubeconfig_content, settings_difference, settings_of

MARKS = state.Marks("m", "v1")


def test_recorded_outputs_hide_secrets_and_can_be_split() -> None:
    """Outputs in the state hide every form of a secret, and the inputs can be read back."""
    inputs = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "n"}, "stringData": Secret({"a": "x"})}
    live = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "n", "uid": "u", "managedFields": [{}]},
        "data": {"a": "eA=="},
    }
    outputs = state.recorded(plain(inputs), live, inputs, state.Marks("m", "v1"))
    assert outputs["data"] == Secret({"a": "eA=="})
    assert outputs["__inputs"]["stringData"] == Secret({"a": "x"})
    assert state.split(outputs) == (plain(inputs), live)


def test_what_kubectl_applied_is_as_secret_as_the_object() -> None:
    """What `kubectl apply` notes beside a Secret is as secret as its data."""
    noted = {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "all of it", "own": "plain"}}
    live: Properties = {"kind": "Secret", "metadata": noted, "data": {"a": "eA=="}}
    hidden = {
        "annotations": {**noted["annotations"], **dict.fromkeys(list(noted["annotations"])[:1], Secret("all of it"))}
    }
    for inputs in ({}, {"metadata": {"annotations": {"own": "plain"}}}, {"metadata": None}):
        outputs = state.recorded(inputs, live, inputs, MARKS)
        assert outputs["metadata"] == hidden
        assert state.split(outputs)[1] == live
    other = {**live, "kind": "ConfigMap"}
    assert state.recorded({}, other, {"data": Secret({"a": "x"})}, MARKS)["metadata"] == hidden
    assert state.recorded({}, other, {"data": {"a": "x"}}, MARKS)["metadata"] == noted
    assert state.recorded({}, other, {"metadata": Secret({})}, MARKS)["metadata"] == Secret(noted)


def test_refreshed_inputs_are_the_clusters() -> None:
    """A refresh returns the program's fields as the cluster has them, and no others."""
    requested = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"cpu": "1000m", "gpu": 16}}}
    live = {**requested, "spec": {"hard": {"cpu": "1", "gpu": "8", "x": "1"}}, "metadata": {"uid": "u"}}
    assert state.refreshed_inputs(requested, live) == {**requested, "spec": {"hard": {"cpu": "1", "gpu": "8"}}}


def test_imported_inputs() -> None:
    """An import returns all that a program could give of a builtin kind, and only the identity of another kind."""
    metadata = {"name": "n", "namespace": "x", "uid": "u", "labels": {"a": "b"}, "managedFields": []}
    live = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}, "status": {}}
    named = {"name": "n", "namespace": "x"}
    known = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}
    assert state.inputs_from_cluster(live) == {**known, "metadata": {**named, "labels": {"a": "b"}}}
    custom = {**live, "apiVersion": "a.b/v1", "kind": "Widget"}
    assert state.inputs_from_cluster(custom) == {"apiVersion": "a.b/v1", "kind": "Widget", "metadata": named}


def test_ignored_fields_are_left_to_others() -> None:
    """An ignored field of others alone is not sent; one of ours is sent as it is."""
    fields: Properties = {"f:data": {"f:a": {}, "f:b": {}}}
    owners = [entry("we", "Apply", {"f:data": {"f:a": {}}}), entry("they", "Update", fields)]
    live = {"metadata": {"managedFields": owners}, "data": {"a": "9", "b": "9"}}
    body = {"data": {"a": "1", "b": "1", "c": "1"}}
    ignored = (("data", "a"), ("data", "b"), ("data", "c"))
    assert state.with_ignored(body, live, ignored, "we") == {"data": {"a": "9", "c": "1"}}


def test_previews_are_forced_over_our_create() -> None:
    """A dry run cannot take the fields of our own create over, so it is forced; others' fields are a conflict."""
    ours, others = entry("pulumi-kubernetes", "Update", {}), entry("kubectl-edit", "Update", {})
    assert forced_in_preview({"metadata": {"managedFields": [ours]}})
    assert not forced_in_preview({"metadata": {"managedFields": [others]}})


def test_field_manager_is_stable() -> None:
    """The field manager of a resource is the same in every run."""
    first = state.marks("urn:a", {}, {}).manager
    assert first == state.marks("urn:a", {}, {}).manager != state.marks("urn:b", {}, {}).manager
    assert state.marks("urn:a", {}, {"__fieldManager": "old"}).manager == "old"
    named = {"metadata": {"annotations": {"pulumi.com/patchFieldManager": "mine"}}}
    assert state.marks("urn:a", named, {"__fieldManager": "old"}).manager == "mine"


def entry(manager: str, operation: str, fields: Properties, **more: str) -> Properties:
    """Return an entry of managedFields."""
    return {"manager": manager, "operation": operation, "fieldsV1": fields, "apiVersion": "v1", **more}


def test_ownership_is_taken_over() -> None:
    """Fields of the own create and of kubectl are taken over, those of controllers are not."""
    entries = [
        entry("pulumi-kubernetes-1", "Update", {"f:data": {"f:a": {}}}),
        entry("kubectl-edit", "Update", {"f:data": {"f:b": {}}}),
        entry("controller", "Update", {"f:status": {}}),
        entry("kubectl", "Update", {"f:status": {}}, subresource="status"),
    ]
    found = transferred(entries, "pulumi-kubernetes-1", "v1")
    assert found is not None
    assert found[:2] == entries[2:]
    assert (found[2]["operation"], found[2]["fieldsV1"]) == ("Apply", {"f:data": {"f:a": {}, "f:b": {}}})
    assert transferred(found, "pulumi-kubernetes-1", "v1") is None


KUBECONFIG = {
    "current-context": "one",
    "contexts": [{"name": "one", "context": {"cluster": "a"}}, {"name": "two", "context": {"cluster": "b"}}],
    "clusters": [{"name": "a", "cluster": {"server": "https://a"}}, {"name": "b", "cluster": {"server": "https://b"}}],
}


@pytest.mark.parametrize(
    ("old", "new", "another"),
    [
        ({}, {"context": "one"}, False),
        ({}, {"context": "two"}, True),
        ({"clusterIdentifier": "x"}, {"clusterIdentifier": "x", "context": "two"}, False),
        ({"clusterIdentifier": "x"}, {"clusterIdentifier": "y"}, True),
        ({}, {"clusterIdentifier": "x"}, False),
    ],
)
def test_which_change_means_another_cluster(old: Properties, new: Properties, another: bool) -> None:
    """A moved server is the same cluster, another identifier is another one."""
    text = {"kubeconfig": yaml.safe_dump(KUBECONFIG)}
    assert bool(settings_difference({**text, **old}, {**text, **new})[1]) is another


def test_settings() -> None:
    """Booleans that come as text are read as such."""
    settings = settings_of({"upsertExistingObjects": "false", "enableSecretMutable": "true", "enablePatchForce": True})
    assert (settings.upsert_existing_objects, settings.patch_force) == (False, True)
    assert settings.mutable_kinds == {"Secret"}
    with pytest.raises(BadSettingsError, match="not supported by the offline"):
        settings_of({"renderYamlToDirectory": "x"})
    with pytest.raises(BadSettingsError, match="does not exist"):
        kubeconfig_content("/no/such/file")


def test_a_warning_is_shown_whole() -> None:
    """A warning with quotation marks is shown whole."""
    header = '299 - "would violate PodSecurity \\"restricted:latest\\": runAsNonRoot != true"'
    assert warning_texts([header, "299 - nothing"]) == [
        'would violate PodSecurity "restricted:latest": runAsNonRoot != true'
    ]
