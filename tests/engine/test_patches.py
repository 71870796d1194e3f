"""Fields on somebody else's object (`*Patch` resources)."""

import pytest

from tests.engine.kit import Cluster, Stack, thing

pytestmark = pytest.mark.engine


def test_node_patch(stack: Stack, api: Cluster) -> None:
    """Prevents labels of ours from staying on a node that is not ours any more, and from taking its own away."""
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
        assert "pulumi.com/patchForce" in conflict.text
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
        fields["metadata"]["name"] = "no-such-node"  # type: ignore[index]
        stack.configure(thing("label", "kubernetes:core/v1:NodePatch", fields))
        assert "Node no-such-node does not exist" in stack.up().text
    finally:
        api.core.delete_node("kit-node")
