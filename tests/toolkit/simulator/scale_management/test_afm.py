"""Caches of the simulated Storage Scale: download, queue, quota, eviction, state."""

from pathlib import Path

import pytest

from tests.support.scale_api import Caller


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    """Give a service with a cache `pvc-a` of a bucket with files of 1000, 2000 and 3000 bytes."""
    made = Caller(tmp_path / "state.json")
    made.cache()
    return made


def cached(caller: Caller) -> set[str]:
    """Return the files that are cached."""
    cache = caller.service.store.state.file_systems["fs1"].filesets["pvc-a"].cache
    assert cache is not None
    return {name for name, file in cache.files.items() if file.cached}


def test_what_is_downloaded_is_queued_and_then_cached(caller: Caller) -> None:
    """The job says how much it queued; the queue is shown before the gateway node has fetched it, then it is empty."""
    assert caller.state()["cacheState"] == "Inactive"
    before = caller.service.looks
    caller.service.looks = 0
    done = caller.download(all=True)
    assert done["result"]["stdout"][1] == "3 0 0 6000"
    caller.service.looks = before
    caller.job("POST", "filesystems/fs1/directory/x", {})
    assert caller.state()["queueLength"] == 0
    assert (caller.state()["cacheState"], cached(caller)) == ("Active", {"a.png", "b.png", "c.png"})
    assert caller.usage() == 6
    assert caller.download(objectList=["a.png", "none.png"])["result"]["stdout"][1] == "0 1 1 1000"


def test_a_queue_is_seen(caller: Caller) -> None:
    """A gateway node fetches between looks: the first one after a download shows what is queued."""
    sent = caller.send("POST", "filesystems/fs1/filesets/pvc-a/cos/download", {"path": "/fs1/pvc-a", "all": True})
    assert sent.status_code == 202
    assert [caller.state()["queueLength"] for _ in range(2)] == [3, 0]


def test_above_the_soft_quota_the_oldest_are_evicted(caller: Caller) -> None:
    """Files leave in the order in which they came until the limit holds; their names stay."""
    caller.quota("pvc-a", blockSoftLimit="5K")
    caller.download(all=True)
    assert cached(caller) == {"b.png", "c.png"}
    assert caller.usage() <= 5
    files = caller.get("filesystems/fs1/quotas", filter="objectName=pvc-a")["quotas"][0]["filesUsage"]
    assert files == 4
    caller.quota("pvc-a", blockSoftLimit="3K")
    assert cached(caller) == {"c.png"}


def test_nothing_is_evicted_without_automatic_eviction(caller: Caller) -> None:
    """A cache that does not evict by itself stays above its soft limit."""
    caller.job("PUT", "filesystems/fs1/filesets/pvc-a", {"afmEnableAutoEviction": "no"})
    caller.quota("pvc-a", blockSoftLimit="3K")
    caller.download(all=True)
    assert len(cached(caller)) == 3
    assert caller.job("PUT", "filesystems/fs1/filesets/pvc-a", {"afmEnableAutoEviction": True})["status"] == "COMPLETED"
    assert cached(caller) == {"c.png"}


def test_above_the_hard_limit_nothing_is_fetched(caller: Caller) -> None:
    """A file that does not fit is not cached."""
    caller.quota("pvc-a", blockHardLimit="4096")
    caller.download(all=True)
    assert cached(caller) == {"a.png", "b.png"}
    body = {"operationType": "setQuota", "quotaType": "fileset", "objectName": "pvc-a", "blockSoftLimit": "1M"}
    assert caller.send("POST", "filesystems/fs1/quotas", body).status_code == 400


def test_files_are_evicted_by_name(caller: Caller) -> None:
    """Those of a list leave, others stay."""
    caller.download(all=True)
    caller.job("POST", "filesystems/fs1/filesets/pvc-a/cos/evict", {"path": "/fs1/pvc-a", "objectList": ["b.png"]})
    assert cached(caller) == {"a.png", "c.png"}
    sent = caller.send(
        "POST", "filesystems/fs1/filesets/pvc-a/cos/evict", {"path": "/fs1/pvc-a", "objectList": "b.png"}
    )
    assert sent.status_code == 400


def test_a_home_that_is_gone(caller: Caller) -> None:
    """A bucket that is gone disconnects its cache, and downloads fail; an export of NFS has no home here at all."""
    caller.homes.clear()
    assert caller.state()["cacheState"] == "Disconnected"
    assert "cannot be reached" in caller.download(all=True)["result"]["stderr"][0]
    body = {"filesetName": "nfs", "inodeSpace": "new", "path": "/fs1/nfs", "afmMode": "ro", "afmTarget": "nfs://map/x"}
    caller.job("POST", "filesystems/fs1/filesets", body)
    assert caller.state("nfs")["cacheState"] == "Unmounted"


def test_a_file_that_home_has_lost_leaves_the_queue(caller: Caller) -> None:
    """It is not cached, and does not stay in the queue."""
    caller.send("POST", "filesystems/fs1/filesets/pvc-a/cos/download", {"path": "/fs1/pvc-a", "all": True})
    caller.homes["a2d2"] = {"a.png": 1000}
    caller.state()
    assert (caller.state()["queueLength"], cached(caller)) == (0, {"a.png"})
