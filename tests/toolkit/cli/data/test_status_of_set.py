"""`./hpc data status NAME` against the simulated GUI of Storage Scale, over real HTTPS; and the calls that it makes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import scale_api
from tests.support.commands import finished
from tests.support.scale_api import CLUSTER, Served, serving
from tests.toolkit.cli.data.kit import Change
from toolkit.cli.data import scale_access, select, status
from toolkit.cli.shared import session
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.simulator.home import Layout
from toolkit.simulator.scale_management.state import file_system_uid

VOLUME = "pvc-a"
HANDLE = f"2;2;{CLUSTER};{file_system_uid('fs1')};;{VOLUME};/fs1/{VOLUME}"


class Cluster:
    """A cluster with the claim `sets` of every namespace, bound to a volume with a handle."""

    def __init__(self) -> None:
        self.source: dict[str, str] = {"driver": "spectrumscale.csi.ibm.com", "volumeHandle": HANDLE}
        self.claim: dict[str, Any] | None = {"spec": {"volumeName": VOLUME}}

    def get(self, path: str) -> dict[str, Any] | None:
        """Return the claim or the volume."""
        if path.endswith("/persistentvolumeclaims/sets"):
            return self.claim
        assert path == f"/api/v1/persistentvolumes/{VOLUME}"
        return {"spec": {"csi": self.source}}


@pytest.fixture
def cluster(change: Change, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Give the stack `lab` a cluster, and its tenant a locked data set on the claim `sets`."""
    change()
    finished(select.command, "bikes", "--stack", "lab")
    made = Cluster()
    monkeypatch.setattr(session, "cluster", lambda _: made)
    monkeypatch.setattr(scale_access, "storage_of", lambda _: None)  # the GUI is the simulated cluster's
    return made


@pytest.fixture
def gui(tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Serve the GUI of the simulated cluster of the stack `lab`."""
    del cluster
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    monkeypatch.setattr(Stack, "simulated", True)
    monkeypatch.setattr(Stack, "cluster_name", "lab")
    with serving(Layout(tmp_path / "sim" / "lab")) as served:
        served.caller.cache()
        served.caller.download(all=True)
        yield served


@pytest.mark.usefixtures("gui")
def test_the_cache_of_a_data_set() -> None:
    """State, what it means, and the set's size are shown; it is found by the handle of the volume of its claim."""
    code, text = finished(status.command, "bikes", "--stack", "lab")
    assert code == 0, text
    assert "Caches of fs1" in text
    assert "connected to its home; home https://home-map:443/a2d2" in " ".join(text.split())
    assert "pvc-a has no soft quota: nothing is evicted by itself" in text
    assert "data set bikes has " in text


def test_a_set_above_the_quota(gui: Served) -> None:
    """A set that is larger than the soft or the hard quota is named with the effect; JSON has use and limits."""
    gui.caller.quota(VOLUME, blockSoftLimit="1K", blockHardLimit="1G")
    _, text = finished(status.command, "bikes", "--stack", "lab")
    assert "above the soft quota of 1,024 bytes: files are evicted" in " ".join(text.split())
    gui.caller.quota(VOLUME, blockHardLimit="1K")
    _, text = finished(status.command, "bikes", "--stack", "lab")
    assert "above the hard quota of 1,024 bytes: what is beyond it cannot be fetched" in " ".join(text.split())
    found = json.loads(finished(status.command, "bikes", "--stack", "lab", "--json")[1])
    assert [(each["fileset"], each["soft"], each["hard"], each["healthy"]) for each in found] == [
        (VOLUME, 1024, 1024, True)
    ]


def test_a_home_that_is_gone(gui: Served) -> None:
    """A cache that does not reach its home gives exit status 1."""
    gui.caller.homes.clear()
    code, text = finished(status.command, "bikes", "--stack", "lab")
    assert (code, "pvc-a is not healthy: Disconnected" in text) == (1, True)


def test_only_gets_of_the_table_are_made(gui: Served) -> None:
    """Method, path and filter of every call are in the table of what the documents state; nothing is ever written."""
    before = gui.caller.service.store.file.read_bytes()
    finished(status.command, "bikes", "--stack", "lab")
    listed = {(call["method"], scale_api.template(call["path"])): call for call in scale_api.calls()}
    assert {path for _, path, _ in gui.asked} == {
        *("cluster", "filesystems", "filesystems/fs1/quotas", "filesystems/fs1/afm/state")
    }
    for method, path, query in gui.asked:
        assert method == "GET"
        assert (method, scale_api.template(path)) in listed, path
        filters = {
            call["query"]["filter"].partition("=")[0]
            for call in scale_api.calls()
            if call["path"] == path and "filter" in call.get("query", {})
        }
        assert {*query} <= {"fields", "filter", "lastId"}
        assert all(each.partition("=")[0] in filters for each in query.get("filter", []))
    assert gui.caller.service.store.file.read_bytes() == before


def test_the_volume_must_be_a_cache_of_that_cluster(gui: Served, cluster: Cluster) -> None:
    """A fileset that is not a cache, another cluster's handle and an unknown file system are each one message."""
    for handle, message in (
        (HANDLE.replace(";pvc-a;", ";lake;"), r"fileset lake of volume sets is not a cache of fs1, which has pvc-a"),
        (HANDLE.replace(CLUSTER, "16217308676014575380"), f"is the GUI of cluster {CLUSTER}, and the volume is of"),
        (HANDLE.replace(file_system_uid("fs1"), file_system_uid("fs9")), "has 0 file systems of UID"),
        (HANDLE.replace(";pvc-a;", ";;"), "handle of volume sets of .* sixth part is empty"),
    ):
        cluster.source = cluster.source | {"volumeHandle": handle}
        with pytest.raises(Exception, match=message):
            finished(status.command, "bikes", "--stack", "lab")
    assert gui.asked


@pytest.mark.parametrize(
    ("claim", "source", "message"),
    [
        (None, {}, "claim sets of .* is not on the cluster"),
        ({"spec": {}}, {}, "claim sets of .* is not bound to a volume"),
        ({"spec": {"volumeName": VOLUME}}, {"driver": "nfs.csi.k8s.io"}, "on no Storage Scale; its driver is nfs.csi"),
    ],
)
def test_a_claim_without_a_volume_of_scale(
    cluster: Cluster, claim: dict[str, Any] | None, source: dict[str, str], message: str
) -> None:
    """A claim that is not there, not bound, or of another driver is named."""
    cluster.claim, cluster.source = claim, source
    with pytest.raises(Problem, match=message):
        finished(status.command, "bikes", "--stack", "lab")
