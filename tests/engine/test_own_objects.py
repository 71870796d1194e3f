"""Objects of a stack's own, by the engine: from manifests to the cluster, and back when the cluster differs."""

from typing import Any

import pytest
import yaml

from tests.engine.kit import PROGRAMS, Cluster, Stack, config_map
from tests.support.messages import has
from toolkit.cli.shared.paths import ROOT

pytestmark = pytest.mark.engine


def configure(stack: Stack, own: list[dict[str, Any]], *objects: dict[str, Any]) -> None:
    """Let the stack declare manifests of its own in one file, and objects of the program."""
    folder = stack.folder / "own"
    folder.mkdir(exist_ok=True)
    (folder / "all.yaml").write_text(yaml.safe_dump_all(own))
    provider = stack.provider(enable_config_map_mutable=True)
    stack.use("own.py")
    stack.configure(*objects, provider=provider, root=str(ROOT), objects_program=str(PROGRAMS / "objects.py"))


def test_manifests_are_applied_and_drift_is_noticed(stack: Stack, api: Cluster, namespace: str, widgets: str) -> None:
    """A ConfigMap and a custom resource are created, then unchanged; drift is seen, and a new version keeps them."""
    settings = config_map("settings", namespace, {"a": "1"})["fields"]
    widget = {
        "apiVersion": f"{widgets}/v1beta1",
        "kind": "Widget",
        "metadata": {"name": "own", "namespace": namespace},
        "spec": {"size": 1},
    }
    names = {f"ConfigMap/{namespace}/settings", f"Widget/{namespace}/own"}
    configure(stack, [settings, widget])
    assert stack.preview().steps("create") >= names
    up = stack.up()
    assert up.status == 0, up.text
    unchanged = stack.preview("--expect-no-changes")
    assert unchanged.status == 0, unchanged.text

    paths = [
        f"/api/v1/namespaces/{namespace}/configmaps/settings",
        f"/apis/{widgets}/v1/namespaces/{namespace}/widgets/own",
    ]
    uids = [api.get(path)["metadata"]["uid"] for path in paths]
    for path, patch in zip(paths, ({"data": {"a": "2"}}, {"spec": {"size": 2}}), strict=True):
        api.patch(path, patch)
    assert stack.pulumi("refresh", "--preview-only").steps("update") == names

    configure(stack, [settings, {**widget, "apiVersion": f"{widgets}/v1"}])
    assert stack.refresh().status == 0
    repaired = stack.up()
    assert repaired.status == 0, repaired.text
    now = [api.get(path) for path in paths]
    assert (now[0]["data"], now[1]["spec"]) == ({"a": "1"}, {"size": 1})
    assert [each["metadata"]["uid"] for each in now] == uids


def test_an_object_of_the_program_is_refused(stack: Stack, namespace: str) -> None:
    """A manifest of an object that the program declares ends a preview with its place and the remedy."""
    ours = config_map("settings", namespace, {"a": "1"})
    configure(stack, [ours["fields"]], ours)
    refused = stack.preview()
    assert refused.status != 0
    assert has(refused.text, "own/all.yaml:1:1", "stack declares itself", "remove the manifest")
