"""What is recorded, who owns what, and which cluster is meant."""

import pytest
import yaml

from simulator.plugins.provider import state
from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.ownership import taken_over
from simulator.plugins.provider.settings import (
    BadSettingsError,
    kubeconfig_content,
    means_another_cluster,
    settings_of,
)
from simulator.plugins.provider.values import Properties, Secret, plain

SECRET = ObjectType("", "v1", "Secret")
QUOTA = ObjectType("", "v1", "ResourceQuota")


def test_recorded_outputs_hide_secrets_and_can_be_split() -> None:
    """Prevents passwords in the state, in whichever form, and the loss of the inputs beside them."""
    inputs = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "n"}, "stringData": Secret({"a": "x"})}
    live = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "n", "uid": "u", "managedFields": [{}]},
        "data": {"a": "eA=="},
    }
    outputs = state.recorded(inputs, live, state.Marks("m", "v1"))
    assert outputs["data"] == Secret({"a": "eA=="})
    assert outputs["__inputs"]["stringData"] == Secret({"a": "x"})
    assert "managedFields" not in outputs["metadata"]
    assert state.split(outputs) == (plain(inputs), {**live, "metadata": {"name": "n", "uid": "u"}})


def test_what_kubectl_applied_is_as_secret_as_the_object() -> None:
    """Prevents passwords in the state that somebody put into a Secret by `kubectl apply`, which notes them beside."""
    noted = {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "all of it", "own": "plain"}}
    live: Properties = {"kind": "Secret", "metadata": noted, "data": {"a": "eA=="}}
    hidden = {
        "annotations": {**noted["annotations"], **dict.fromkeys(list(noted["annotations"])[:1], Secret("all of it"))}
    }
    for inputs in ({}, {"metadata": {"annotations": {"own": "plain"}}}, {"metadata": None}):
        outputs = state.recorded(inputs, live, state.Marks("m", "v1"))
        assert outputs["metadata"] == hidden
        assert state.split(outputs)[1] == live
    other = {**live, "kind": "ConfigMap"}
    assert state.recorded({"data": Secret({"a": "x"})}, other, state.Marks("m", "v1"))["metadata"] == hidden
    assert state.recorded({"data": {"a": "x"}}, other, state.Marks("m", "v1"))["metadata"] == noted
    assert state.recorded({"metadata": Secret({})}, live, state.Marks("m", "v1"))["metadata"] == Secret(noted)


def test_refreshed_inputs_keep_the_way_they_were_written() -> None:
    """Prevents a refresh from showing changes that are none, and from missing those that are."""
    asked = {"spec": {"hard": {"cpu": "1000m", "gpu": 16}, "scopes": []}, "metadata": {"name": "n"}}
    live = {"spec": {"hard": {"cpu": "1", "gpu": "8", "x": "1"}}, "metadata": {"name": "n", "uid": "u"}}
    assert state.refreshed_inputs(asked, live, QUOTA) == {
        "spec": {"hard": {"cpu": "1000m", "gpu": "8"}, "scopes": []},
        "metadata": {"name": "n"},
    }


def test_refreshed_string_data() -> None:
    """Prevents a refresh of a Secret from turning its stringData into data: a change that is none."""
    base: Properties = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "n"}}
    asked = {**base, "stringData": {"a": "x", "b": "y"}}
    live = {**base, "data": {"a": "eA==", "b": "eg=="}}
    assert state.refreshed_inputs(asked, live, SECRET) == {**base, "stringData": {"a": "x", "b": "z"}}


def test_imported_objects_are_marked() -> None:
    """Prevents an import from counting every default of the server as something that the program removes."""
    live = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "n", "namespace": "x", "uid": "u"},
        "data": {},
    }
    assert state.only_identity(state.identity(live))
    assert not state.only_identity(state.inputs_from_cluster(live))


def test_field_manager_is_stable() -> None:
    """Prevents an interrupted create from being foreign to the run that finds it."""
    first = state.marks("urn:a", {}, {}).manager
    assert first == state.marks("urn:a", {}, {}).manager != state.marks("urn:b", {}, {}).manager
    assert state.marks("urn:a", {}, {"__fieldManager": "old"}).manager == "old"
    named = {"metadata": {"annotations": {"pulumi.com/patchFieldManager": "mine"}}}
    assert state.marks("urn:a", named, {"__fieldManager": "old"}).manager == "mine"


def entry(manager: str, operation: str, fields: Properties, **more: str) -> Properties:
    """Return an entry of managedFields."""
    return {"manager": manager, "operation": operation, "fieldsV1": fields, "apiVersion": "v1", **more}


def test_ownership_is_taken_over() -> None:
    """Prevents conflicts with our own create and with kubectl, and robbery of controllers."""
    entries = [
        entry("pulumi-kubernetes-1", "Update", {"f:data": {"f:a": {}}}),
        entry("kubectl-edit", "Update", {"f:data": {"f:b": {}}}),
        entry("controller", "Update", {"f:status": {}}),
        entry("kubectl", "Update", {"f:status": {}}, subresource="status"),
    ]
    found = taken_over(entries, "pulumi-kubernetes-1", "v1")
    assert found is not None
    assert found[:2] == entries[2:]
    assert (found[2]["operation"], found[2]["fieldsV1"]) == ("Apply", {"f:data": {"f:a": {}, "f:b": {}}})
    assert taken_over(found, "pulumi-kubernetes-1", "v1") is None


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
    """Prevents a moved server from replacing everything, and another cluster from being updated as if it were this."""
    text = {"kubeconfig": yaml.safe_dump(KUBECONFIG)}
    assert means_another_cluster({**text, **old}, {**text, **new}) is another


def test_settings() -> None:
    """Prevents booleans that come as text from being read as true."""
    settings = settings_of({"upsertExistingObjects": "false", "enableSecretMutable": "true", "enablePatchForce": True})
    assert (settings.upsert_existing_objects, settings.patch_force) == (False, True)
    assert settings.mutable_kinds == {"Secret"}
    with pytest.raises(BadSettingsError, match="not supported by the offline"):
        settings_of({"renderYamlToDirectory": "x"})
    with pytest.raises(BadSettingsError, match="does not exist"):
        kubeconfig_content("/no/such/file")
