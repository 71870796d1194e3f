"""Caches that the simulated Spectrum Scale driver makes at the simulated GUI."""

import base64
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import scale_api
from tests.support.scale_api import CLUSTER, Served, serving
from toolkit.simulator.actors import scale_caches
from toolkit.simulator.actors.scale_provisioner import ScaleProvisioner
from toolkit.simulator.actors.volumes import driver_annotations, started_with
from toolkit.simulator.home import Layout
from toolkit.simulator.scale_management.client import Gui, GuiError, of_cluster
from toolkit.simulator.scale_management.state import file_system_uid

BUCKET = {"endpoint": "https://s3.example.com", "bucket": "a2d2", "accesskey": "planted-a", "secretkey": "planted-s"}
EXPORT = {"nfsServers": "nfs.example.com", "nfsPath": "/export/a2d2"}
CLASS = {
    "metadata": {"name": "near"},
    "parameters": {
        "volBackendFs": "fs1",
        "clusterId": CLUSTER,
        "volumeType": "cache",
        "csi.storage.k8s.io/provisioner-secret-name": "${pvc.name}-home",
        "csi.storage.k8s.io/provisioner-secret-namespace": "${pvc.namespace}",
    },
}
CLAIM = {
    "metadata": {"name": "sets", "namespace": "adas", "uid": "1"},
    "spec": {"accessModes": ["ReadOnlyMany"], "resources": {"requests": {"storage": "5Ki"}}},
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve the GUI of a cluster in `tmp_path`."""
    with serving(Layout(tmp_path / "lab")) as found:
        yield found


@pytest.fixture
def gui(served: Served, tmp_path: Path) -> Gui:
    """Return the driver's way to it."""
    assert served.asked == []
    found = of_cluster(tmp_path / "lab", CLUSTER)
    assert found is not None
    return found


def secret(**texts: str) -> dict[str, Any]:
    """Return a Secret with texts."""
    return {"data": {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}}


def test_a_cache_of_a_bucket_with_its_quota(gui: Gui, served: Served) -> None:
    """Map, keys, fileset and quota are made with calls of the table; made again, all stays as it is."""
    for _ in range(2):
        scale_caches.make(gui, "pvc-1", "fs1", BUCKET, mode="ro", size=5120)
    (afm,) = [each["afm"] for each in served.caller.get("filesystems/fs1/filesets")["filesets"] if "afm" in each]
    assert (afm["afmMode"], afm["afmTarget"]) == ("ro", "https://pvc-1-exportmap:443/a2d2")
    served.caller.download("pvc-1", all=True)
    assert served.caller.usage("pvc-1") == 3  # of 6000 bytes: the third file is above the hard limit
    listed = {(call["method"], scale_api.template(call["path"])) for call in scale_api.calls()}
    made = {(method, scale_api.template(path)) for method, path, _ in served.asked if not path.startswith("jobs/")}
    assert made <= listed


def test_a_cache_of_an_export(gui: Gui, served: Served) -> None:
    """The target is the map with the export's path; no NFS server is simulated behind it."""
    scale_caches.make(gui, "pvc-1", "fs1", EXPORT, mode="iw", size=5120)
    found = served.caller.state("pvc-1")
    assert (found["filesetTarget"], found["cacheState"]) == ("nfs://pvc-1-exportmap/export/a2d2", "Unmounted")


def test_a_cache_is_removed_with_its_map(gui: Gui, served: Served) -> None:
    """What is gone already is not an error."""
    scale_caches.make(gui, "pvc-1", "fs1", BUCKET, mode="ro", size=5120)
    for _ in range(2):
        scale_caches.remove(gui, "pvc-1", file_system_uid("fs1"))
    assert [each["filesetName"] for each in served.caller.get("filesystems/fs1/filesets")["filesets"]] == ["root"]
    assert served.caller.service.store.state.maps == {}


def test_no_key_is_in_a_message(gui: Gui) -> None:
    """What the GUI says of a failure is shown, and nothing that was sent."""
    with pytest.raises(GuiError, match="Invalid value in 'filesystemName'") as error:
        scale_caches.make(gui, "pvc-1", "fs9", BUCKET, mode="ro", size=1)
    assert "planted" not in str(error.value)
    body = {"filesetName": "c", "endpoint": "https://none:443", "bucket": "planted", "verifyKeys": True}
    with pytest.raises(GuiError, match="No keys are set") as error:
        gui.job("POST", "filesystems/fs1/filesets/cos", body)


def test_the_secret_of_a_claim(tmp_path: Path) -> None:
    """Its name follows from the class and the claim; it must name a bucket or an export."""
    assert scale_caches.secret_of(CLAIM, CLASS) == ("adas", "sets-home")
    assert scale_caches.home_of(secret(**BUCKET)) == BUCKET
    for wrong in (secret(endpoint="x", bucket="b"), {}, {"data": {"bucket": "!"}}):
        with pytest.raises(ValueError, match="the secret of the cache has"):
            scale_caches.home_of(wrong)
    assert of_cluster(tmp_path, CLUSTER) is None


@pytest.mark.parametrize(
    ("mode", "access", "expected"),
    [
        ("", "ReadOnlyMany", "ro"),
        ("", "ReadWriteMany", "iw"),
        ("readonly", "ReadOnlyMany", "ro"),
        ("detached", "ReadWriteMany", "lu"),
    ],
)
def test_the_mode_of_a_cache(mode: str, access: str, expected: str) -> None:
    """It is the class's; without one, what the claim does decides."""
    claim = {"spec": {"accessModes": [access]}}
    assert scale_caches.mode_of(claim, {"parameters": {"cacheMode": mode}}) == expected


def provisioned(home: Path, found: dict[str, Any] | None) -> dict[str, Any]:
    """Return the source of the claim's volume, where the Secret is what is given."""
    logs: Any = SimpleNamespace()
    runtime: Any = SimpleNamespace(
        settings=SimpleNamespace(home=home), account=lambda _: SimpleNamespace(find=lambda *_: found)
    )
    actor = ScaleProvisioner(runtime, logs, {"metadata": {"namespace": "csi", "name": "provisioner"}})
    known = started_with({"metadata": {"annotations": driver_annotations([CLUSTER], (7,), None)}})
    assert known is not None
    return actor.place(CLAIM, CLASS, known)


def test_the_volume_of_a_claim_is_the_cache(served: Served, tmp_path: Path) -> None:
    """The handle names the fileset that was made; without the Secret none is, and the claim gets no volume."""
    with pytest.raises(ValueError, match="error getting secret sets-home in namespace adas"):
        provisioned(tmp_path / "lab", None)
    assert served.asked == []
    found = provisioned(tmp_path / "lab", secret(**BUCKET))
    assert found["csi"]["volumeHandle"] == f"2;2;{CLUSTER};{file_system_uid('fs1')};;pvc-1;/fs1/pvc-1"
    assert served.caller.state("pvc-1")["cacheState"] == "Inactive"
    assert provisioned(tmp_path / "elsewhere", None) == found
