"""Every custom resource that our stacks render, against its real definition."""

from collections.abc import Mapping
from typing import Any

import pytest

from apis import kinds
from apis.kinds import Kind
from rendering.manifests import manifests
from stacks.settings import known
from tests.conformance.schema import expect_conformity
from tests.support.recorded import ROOT, environment

UNSPECIFIED: Mapping[tuple[str, str], str] = {
    (kind.api_version, kind.kind): reason
    for kind, reason in (
        (kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, "the definition of 2020 has no schema of its fields"),
        (kinds.SPECIAL_RESOURCE_V1ALPHA1, "the definition of 2020 has an empty schema"),
    )
}
"""Kinds that never had a schema, with the source's word for it (platform-facts 1.5 and 5)."""
CSI_2 = "ibm-spectrum-scale-csi-operator.v2."
"""Begins the version of the driver of 2020, whose definition has no schema; csi.ibm.com/v1 is that of 3.x too."""

Manifest = dict[str, Any]


def _is(manifest: Manifest, kind: Kind) -> bool:
    return (manifest["apiVersion"], manifest["kind"]) == (kind.api_version, kind.kind)


def _has_schema(manifest: Manifest, stack: list[Manifest]) -> bool:
    if _is(manifest, kinds.CSI_SCALE_OPERATOR):
        versions = [str(each["spec"].get("startingCSV")) for each in stack if _is(each, kinds.SUBSCRIPTION)]
        return not any(version.startswith(CSI_2) for version in versions)
    return (manifest["apiVersion"], manifest["kind"]) not in UNSPECIFIED


def _is_custom(manifest: Manifest) -> bool:
    group = manifest["apiVersion"].rpartition("/")[0]
    return "." in group and not group.endswith(".k8s.io")


@pytest.mark.parametrize("stack", known(ROOT))
def test_custom_resources_have_the_shape_of_their_definitions(stack: str) -> None:
    """Prevents a misspelt field, which a server prunes in silence, and a value that it refuses at the update."""
    found = manifests(environment(stack))
    definitions = [each for each in found if _is(each, kinds.CUSTOM_RESOURCE_DEFINITION)]
    judged = [each for each in found if _is_custom(each) and _has_schema(each, found)]
    assert judged or not any(map(_is_custom, found))
    expect_conformity(*judged, definitions=definitions)
    # The stack's own definition is our small one; of this version there is the project's, too.
    expect_conformity(*(each for each in judged if _is(each, kinds.MPI_JOB_V2BETA1)))
