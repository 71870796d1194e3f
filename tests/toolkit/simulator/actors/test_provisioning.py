"""Volumes that are made for claims."""

from typing import Any

import pytest

from toolkit.simulator.actors import provisioning

Manifest = dict[str, Any]
OURS = "hpc.sim/files"
CLASS: Manifest = {"metadata": {"name": "sim-files"}, "reclaimPolicy": "Delete"}


class Recorded:
    """An API that has the class, and remembers what was made and deleted."""

    def __init__(self) -> None:
        self.made: list[Manifest] = []
        self.deleted: list[str] = []

    def get(self, *_: Any) -> Manifest:
        """Return the class."""
        return CLASS

    def create(self, _kind: Any, body: Manifest) -> Manifest:
        """Remember what was made."""
        self.made.append(body)
        return body

    def delete(self, _kind: Any, name: str) -> None:
        """Remember what was deleted."""
        self.deleted.append(name)


def claim(provisioner: str = OURS, **spec: Any) -> Manifest:
    """Return a claim that asks a provisioner for a volume."""
    requested = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}
    marks = {"volume.kubernetes.io/storage-provisioner": provisioner}
    meta = {"name": "data", "namespace": "adas", "uid": "1", "annotations": marks}
    return {"metadata": meta, "spec": {"storageClassName": "sim-files", **requested, **spec}}


def made_for(requested: Manifest) -> list[Manifest]:
    """Return the volumes that are made for a claim."""
    api: Any = Recorded()
    provisioning.provision(api, requested, OURS, provisioning.source)
    found: list[Manifest] = api.made
    return found


def test_a_volume_is_its_claims_alone() -> None:
    """A volume's name is that of its claim's uid."""
    (volume,) = made_for(claim())
    spec = volume["spec"]
    assert (spec["claimRef"]["namespace"], spec["claimRef"]["name"], spec["claimRef"]["uid"]) == ("adas", "data", "1")
    assert (spec["storageClassName"], spec["accessModes"]) == ("sim-files", ["ReadWriteMany"])
    assert spec["capacity"] == {"storage": "1Ti"}
    assert spec["nfs"]["path"] == "/sim-files/pvc-1"


@pytest.mark.parametrize(
    "other", [claim("spectrumscale.csi.ibm.com"), claim(volumeName="there"), {**claim(), "metadata": {"name": "data"}}]
)
def test_other_claims_are_not_looked_at(other: Manifest) -> None:
    """A claim gets one volume, from the provisioner that its class names."""
    assert made_for(other) == []


@pytest.mark.parametrize(
    ("phase", "policy", "by", "gone"),
    [
        ("Released", "Delete", OURS, True),
        ("Bound", "Delete", OURS, False),
        ("Released", "Retain", OURS, False),
        ("Released", "Delete", "spectrumscale.csi.ibm.com", False),
    ],
)
def test_only_what_is_released_and_to_be_deleted_goes(phase: str, policy: str, by: str, gone: bool) -> None:
    """A released volume is deleted only where its class says so."""
    api: Any = Recorded()
    volume = {
        "metadata": {"name": "pvc-1", "annotations": {provisioning.BY: by}},
        "spec": {"persistentVolumeReclaimPolicy": policy},
        "status": {"phase": phase},
    }
    provisioning.reclaim(api, volume, OURS)
    assert api.deleted == (["pvc-1"] if gone else [])
