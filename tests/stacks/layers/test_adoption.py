"""Objects that were there before the stack stay, whatever becomes of it."""

import pytest
from pydantic import TypeAdapter, ValidationError

from core.pulumi_values import REDACTED
from stacks import environment
from stacks.layers import adoption
from stacks.loading import settings
from stacks.settings import transforms
from tests.support.recorded import ROOT
from toolkit.render import manifests
from toolkit.render.recorder import Registration, record


def recorded(*adopted: str) -> tuple[Registration, ...]:
    """Return what dev registers when it has adopted these objects."""
    wanted = settings.load("dev", ROOT).model_copy(update={"adopted": adopted})
    return record(
        lambda: environment.build(wanted, environment.placeholder_accounts(wanted, REDACTED), ROOT),
        stack="dev",
        project="hpc",
    )


def test_adopted_objects_and_what_carries_them_are_kept() -> None:
    """Adopted objects, their namespaces and definitions are retained on delete."""
    found = recorded("Role/adas/mpi", "MPIJob/adas/nccl-test-01x08")
    before = {item.urn for item in manifests.registrations("dev", ROOT) if item.retain_on_delete}
    assert {item.name for item in found if item.retain_on_delete and item.urn not in before} == {
        "adas-role",
        "adas-nccl-test-01x08-job",
        "adas-namespace",
        "mpi-operator-definition",
    }


def test_nothing_else_of_a_registration_changes() -> None:
    """An adopted object lacks the labels of the stack, and adopting it changes nothing else."""
    before = {item.urn: item for item in manifests.registrations("dev", ROOT)}
    for item in recorded("Role/adas/mpi", "MPIJob/adas/nccl-test-01x08"):
        declared = vars(before[item.urn]) | {"retain_on_delete": item.retain_on_delete}
        if item.name == "adas-role":
            bare = {key: value for key, value in item.inputs["metadata"].items() if key != "labels"}
            declared["inputs"] = declared["inputs"] | {"metadata": bare}
        assert vars(item) == declared


@pytest.mark.parametrize(
    ("token", "metadata"),
    [
        ("kubernetes:core/v1:NodePatch", {"name": "n"}),
        ("hpc:tenants:Tenant", {"name": "n"}),
        ("kubernetes:core/v1:Node", None),
        ("kubernetes:core/v1:Node", {"name": "other"}),
        ("kubernetes:core/v1:Node", {"name": "n", "namespace": "somewhere"}),
        ("kubernetes:core/v1:Namespace", {"name": "n"}),
    ],
)
def test_others_are_left_alone(token: str, metadata: dict[str, str] | None) -> None:
    """Patches, components and objects of the same name elsewhere are not retained."""
    assert not adoption.is_kept({"Node/n"}, token, {"metadata": metadata})


@pytest.mark.parametrize("text", ["adas/mpi", "Role", "Role//mpi", "Role/adas/mpi/x", "Role/adas/m pi", "", "/adas"])
def test_a_name_that_is_none_is_refused(text: str) -> None:
    """A name that cannot be an object's is refused."""
    with pytest.raises(ValidationError, match="names no object"):
        TypeAdapter(transforms.ObjectName).validate_python(text)


def test_a_misspelt_entry_is_named_and_one_that_left_the_settings_is_not() -> None:
    """A name that is almost that of a declared object is reported; what left the settings may stay adopted."""
    declared = {"Namespace/vision", "ResourceQuota/vision/gpus"}
    assert [*adoption.misspelt(("Namespace/visoin", "ConfigMap/old/thing", "Namespace/vision"), declared)] == [
        "adopted: Namespace/visoin is no object that the stack declares; did you mean Namespace/vision?"
    ]
