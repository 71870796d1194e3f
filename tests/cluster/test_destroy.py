"""Deleting everything again. In a file and a lab of its own: nothing is left for other tests afterwards."""

import pytest

from apis import kinds
from simulator.actors.api import ApiError
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout

pytestmark = pytest.mark.cluster


def ours(lab: Lab) -> list[str]:
    """Return all objects that carry our label, of every kind that the platform knows."""
    found = []
    for kind in kinds.KINDS:
        try:
            items = lab.api.list(kind, selector="app.kubernetes.io/part-of=hpc")["items"]
        except ApiError as error:
            if not error.missing:
                raise
            continue  # a kind that is no longer served has no objects
        found += [f"{kind.kind} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}" for item in items]
    return found


def test_destroy_leaves_no_object_of_the_stack(tmp_path_factory: pytest.TempPathFactory) -> None:
    """`pulumi destroy` removes every object of the stack, its namespaces, and its labels on nodes."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("destroyed")) as lab:
        lab.works("up")
        assert ours(lab)
        lab.works("pulumi", "destroy", "--stack", "dev", "--yes", "--non-interactive")
        assert ours(lab) == []
        assert not [
            node["metadata"]["name"]
            for node in lab.api.list(kinds.NODE)["items"]
            if "scale" in node["metadata"]["labels"]
        ]
        assert lab.api.find(kinds.CUSTOM_RESOURCE_DEFINITION, "mpijobs.kubeflow.org") is None
