"""A change of a stack as data."""

import pytest

from toolkit.review.model import Change, Op, Resource, Review

URN = "urn:pulumi:dev::hpc::hpc:tenants:Tenant$kubernetes:{}::x"


@pytest.mark.parametrize(
    ("type_", "api_version", "kind", "patch"),
    [
        ("core/v1:Namespace", "v1", "Namespace", False),
        ("batch/v1:Job", "batch/v1", "Job", False),
        (
            "operators.coreos.com/v1alpha1:ClusterServiceVersionPatch",
            "operators.coreos.com/v1alpha1",
            "ClusterServiceVersion",
            True,
        ),
        ("core/v1:NodePatch", "v1", "Node", True),
    ],
)
def test_an_object_is_named_as_the_cluster_does(type_: str, api_version: str, kind: str, patch: bool) -> None:
    """Objects are named by kind, namespace and name."""
    resource = Resource(URN.format(type_), f"kubernetes:{type_}", {"metadata": {"name": "a", "namespace": "b"}})
    assert (resource.api_version, resource.kind, resource.is_patch) == (api_version, kind, patch)
    assert (resource.name, resource.object_name, resource.namespace) == ("x", "a", "b")


def test_objects_before_and_after() -> None:
    """Deleted objects and components are not among the objects after a change."""
    old = Resource(URN.format("core/v1:Secret"), "kubernetes:core/v1:Secret", {})
    new = Resource(URN.format("core/v1:Pod"), "kubernetes:core/v1:Pod", {})
    component = Resource("urn:pulumi:dev::hpc::hpc:tenants:Tenant::t", "hpc:tenants:Tenant", {})
    review = Review(
        "dev", (Change(Op.DELETE, old, None), Change(Op.CREATE, None, new), Change(Op.SAME, component, component))
    )
    assert (list(review.objects(after=False)), list(review.objects(after=True))) == ([old], [new])
    assert [change.op for change in review.changed] == [Op.DELETE, Op.CREATE]
