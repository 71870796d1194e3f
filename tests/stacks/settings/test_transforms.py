"""Fields of objects that no other setting has."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from stacks.loading import settings
from stacks.settings import transforms
from stacks.settings.transforms import ExtraFields
from tests.support.recorded import ROOT, built


def test_extra_fields_are_merged_into_what_is_declared() -> None:
    """A map merges, null removes, a list is replaced; no other object changes."""
    extra: dict[str, Any] = {
        "Namespace/adas": {"metadata": {"labels": {"team": "vision", "app.kubernetes.io/name": None}}},
        "SecurityContextConstraints/scc-for-mpi": {"allowedCapabilities": ["IPC_LOCK", "NET_RAW"]},
    }
    content = settings.whole("dev", ROOT).data
    before = {item.urn: item for item in built(content)}
    changed = {item.name: item.inputs for item in built(content | {"extra": extra}) if item != before[item.urn]}
    assert changed.keys() == {"adas-namespace", "mpi-scc-constraints"}
    labels = changed["adas-namespace"]["metadata"]["labels"]
    assert labels["team"] == "vision"
    assert "app.kubernetes.io/name" not in labels
    assert "app.kubernetes.io/part-of" in labels
    assert changed["mpi-scc-constraints"]["allowedCapabilities"] == ["IPC_LOCK", "NET_RAW"]


def test_an_object_that_is_not_declared_is_named() -> None:
    """Extra fields of an object that the stack does not declare are refused, with the name that was meant."""
    (problem,) = transforms.unused({"Namespace/adsa": {}, "Role/adas/mpi": {}}, ["Namespace/adas", "Role/adas/mpi"])
    assert problem == "extra: Namespace/adsa is no object that the stack declares; did you mean Namespace/adas?"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"Namespace/adas": {"metadata": {"name": "x"}}}, "Namespace/adas: metadata.name cannot be an extra field"),
        ({"Namespace/adas": {"status": {}}}, "status cannot be"),
        ({"Secret/adas/x": {"stringData": {"password": "p"}}}, "settings are not secret"),
        ({"adas/mpi": {}}, "names no object"),
    ],
)
def test_what_no_extra_field_can_be(extra: dict[str, Any], message: str) -> None:
    """An object's identity, its status and a Secret's values are refused."""
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(ExtraFields).validate_python(extra)
