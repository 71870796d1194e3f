"""What a preview registers while the cluster has nothing of the stack."""

import pytest
from pulumi.output import Unknown

from rendering.manifests import registrations
from stacks.settings import known
from tests.support.recorded import ROOT, environment


@pytest.mark.parametrize("stack", known(ROOT))
def test_objects_have_known_names(stack: str) -> None:
    """The official provider refuses a patch whose name is unknown, and names any other such object by itself."""
    previewed = [item for item in registrations(stack, first_preview=True) if item.is_kubernetes]
    assert {item.urn for item in previewed} == {item.urn for item in environment(stack) if item.is_kubernetes}
    unnamed = [item.urn for item in previewed if not isinstance(item.inputs["metadata"].get("name"), str)]
    assert unnamed == []


def test_versions_that_olm_will_install_are_not_patched_in_a_preview() -> None:
    """The placeholder for the name is never sent to the server: a provider sends nothing that has unknown values."""
    versions = [item for item in registrations("dev", first_preview=True) if "ClusterServiceVersionPatch" in item.type]
    assert len(versions) == 3
    for item in versions:
        assert item.inputs["metadata"]["name"].endswith(".installed-by-olm")
        assert isinstance(item.inputs["metadata"]["annotations"]["hpc.pulumi/awaited"], Unknown)
