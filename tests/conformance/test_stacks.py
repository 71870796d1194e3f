"""Every custom resource that our stacks render, against its real definition."""

import pytest

from core.apis import kinds
from tests.conformance.rendered import is_custom, is_of, no_schema
from tests.conformance.schema import expect_conformity
from tests.support.recorded import OURS, environment
from toolkit.render.manifests import manifests


@pytest.mark.parametrize("stack", OURS)
def test_custom_resources_have_the_shape_of_their_definitions(stack: str) -> None:
    """Every custom resource of the stack matches the schema of its definition."""
    found = manifests(environment(stack))
    definitions = [each for each in found if is_of(each, kinds.CUSTOM_RESOURCE_DEFINITION)]
    judged = [each for each in found if is_custom(each) and no_schema(each, found) is None]
    assert judged or not any(map(is_custom, found))
    expect_conformity(*judged, definitions=definitions)
    # The stack's own definition is our small one; of this version there is the project's, too.
    expect_conformity(*(each for each in judged if is_of(each, kinds.MPI_JOB_V2BETA1)))
