"""What a preview registers while the cluster has nothing of the stack."""

from collections.abc import Iterator

from pulumi.output import Unknown

from tests.support.recorded import OURS, environment
from toolkit.render.manifests import registrations


def _of_every_kind() -> Iterator[str]:
    """Yield stacks that together declare all that any of them does."""
    kinds = {stack: {item.type for item in environment(stack)} for stack in OURS}
    left = set().union(*kinds.values())
    while left:
        stack = max(kinds, key=lambda stack: len(kinds[stack] & left))
        yield stack
        left -= kinds[stack]


def test_objects_have_known_names() -> None:
    """The official provider refuses a patch whose name is unknown, and names any other such object by itself."""
    for stack in _of_every_kind():
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
