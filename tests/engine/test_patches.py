"""Fields of an object that another stack or controller owns (`*Patch` resources)."""

import pytest

from tests.engine.kit import Cluster, Stack, thing

pytestmark = pytest.mark.engine


def test_node_patch(stack: Stack, api: Cluster) -> None:
    """Labels of a patch are set and removed with it; the node's own labels stay."""
    api.core.create_node({"metadata": {"name": "kit-node", "labels": {"theirs": "kept"}}})
    fields = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "kit-node", "labels": {"scale": "true", "b": "1"}},
    }
    try:
        stack.configure(thing("label", "kubernetes:core/v1:NodePatch", fields))
        done = stack.up()
        assert done.status == 0, done.text
        labels = api.get("/api/v1/nodes/kit-node")["metadata"]["labels"]
        assert (labels["scale"], labels["b"], labels["theirs"]) == ("true", "1", "kept")
        assert stack.preview("--expect-no-changes").status == 0
        api.patch("/api/v1/nodes/kit-node", {"metadata": {"labels": {"scale": "false"}}}, manager="somebody")
        assert stack.refresh().status == 0
        fields["metadata"] = {"name": "kit-node", "labels": {"scale": "true"}}
        stack.configure(thing("label", "kubernetes:core/v1:NodePatch", fields))
        conflict = stack.up()
        assert conflict.status != 0
        assert 'conflict with "somebody"' in conflict.text
        fields["metadata"]["annotations"] = {"pulumi.com/patchForce": "true"}  # type: ignore[index]
        stack.configure(thing("label", "kubernetes:core/v1:NodePatch", fields))
        forced = stack.up()
        assert forced.status == 0, forced.text
        labels = api.get("/api/v1/nodes/kit-node")["metadata"]["labels"]
        assert labels["scale"] == "true"
        assert "b" not in labels
        gone = stack.destroy()
        assert gone.status == 0, gone.text
        labels = api.get("/api/v1/nodes/kit-node")["metadata"]["labels"]
        assert "scale" not in labels
        assert labels["theirs"] == "kept"
    finally:
        api.core.delete_node("kit-node")
