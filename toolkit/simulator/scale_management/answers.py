"""What the REST interface answers a GET: shapes as IBM's CSI driver reads them, numbers as numbers."""

from collections.abc import Iterator
from typing import Any

from toolkit.simulator.scale_management.cache import Home, advanced, state_of
from toolkit.simulator.scale_management.filesets import MODES
from toolkit.simulator.scale_management.state import Cache, FileSystem, Job, State

VERSION = "5.2.3-1"
GATEWAY = "gateway-1"
NODES = ((GATEWAY, True), ("storage-1", False), ("storage-2", False))
"""Nodes of the storage cluster, and whether each is a gateway node of AFM."""
_KIB = 1024


def cluster(state: State) -> dict[str, Any]:
    """Return id and name."""
    return {"clusterSummary": {"clusterId": state.cluster_id, "clusterName": state.cluster_name}}


def config(state: State) -> dict[str, Any]:
    """Return the cluster's configuration."""
    found = {
        "clusterId": state.cluster_id,
        "minReleaseLevel": VERSION.partition("-")[0] + ".0",
        "timeZoneOffset": "+00:00",
    }
    return {"clusterConfig": found}


def nodes() -> list[dict[str, Any]]:
    """Return the nodes."""
    return [
        {
            "adminNodename": name,
            "nodeNumber": number,
            "roles": {"gatewayNode": gateway, "quorumNode": True},
            "status": {"gpfsState": "HEALTHY", "productVersion": VERSION},
        }
        for number, (name, gateway) in enumerate(NODES, start=1)
    ]


def file_systems(state: State) -> list[dict[str, Any]]:
    """Return the file systems."""
    return [
        {
            "name": each.name,
            "uuid": each.uuid,
            "mount": {
                "mountPoint": each.mount_point,
                "status": "mounted",
                "remoteDeviceName": f"{state.cluster_name}:{each.name}",
                "nodesMountedReadWrite": [name for name, _ in NODES],
                "readOnly": False,
            },
            "quota": {"perfilesetQuotas": True, "filesetdfEnabled": True, "quotasEnforced": "user;group;fileset"},
        }
        for each in state.file_systems.values()
    ]


def filesets(file_system: FileSystem) -> Iterator[dict[str, Any]]:
    """Yield the filesets of a file system."""
    for each in file_system.filesets.values():
        afm = {"afm": _afm(each.cache)} if each.cache else {}
        yield {
            "filesetName": each.name,
            "filesystemName": file_system.name,
            "config": {
                "path": each.path or "--",
                "id": each.id,
                "inodeSpace": each.id if each.independent else 0,
                "maxNumInodes": each.max_inodes,
                "parentId": 0,
                "status": "Linked" if each.path else "Unlinked",
                "comment": each.comment,
                "isInodeSpaceOwner": each.independent,
                "created": each.created,
            },
            **afm,
        }


def _afm(cache: Cache) -> dict[str, Any]:
    own = {"afmMode": MODES[cache.mode], "afmTarget": cache.target, "afmEnableAutoEviction": cache.auto_eviction}
    return {"afmPrefetchThreshold": 0, **cache.attributes, **own}


def quotas(file_system: FileSystem) -> Iterator[dict[str, Any]]:
    """Yield use and limits of the filesets, blocks in KiB."""
    for each in file_system.filesets.values():
        files = each.cache.files if each.cache else {}
        yield {
            "filesystemName": file_system.name,
            "objectName": each.name,
            "objectId": each.id,
            "quotaType": "FILESET",
            "blockUsage": -(-each.cache.cached_bytes // _KIB) if each.cache else 0,
            "blockQuota": each.quota.soft_kib,
            "blockLimit": each.quota.hard_kib,
            "filesUsage": 1 + len(files),
        }


def afm_states(file_system: FileSystem, home: Home) -> Iterator[dict[str, Any]]:
    """Yield the state of each cache."""
    for each in file_system.filesets.values():
        if each.cache:
            yield {
                "filesystemName": file_system.name,
                "filesetName": each.name,
                "filesetId": each.id,
                "filesetTarget": each.cache.target,
                "cacheState": state_of(each.cache, home),
                "gatewayNodeName": GATEWAY,
                "queueLength": len(each.cache.queue),
                "drState": "",
            }


def moved_on(file_system: FileSystem, home: Home) -> FileSystem:
    """Return a file system after its gateway nodes have fetched some more; itself where nothing is queued."""
    for each in file_system.filesets.values():
        if each.cache and each.cache.queue:
            cache = advanced(each.cache, each.quota, home)
            file_system = file_system.with_fileset(each.model_copy(update={"cache": cache}))
    return file_system


def job(found: Job, *, whole: bool = False, running: bool | None = None) -> dict[str, Any]:
    """Return a job; its result only where the whole is wanted, and not before it is finished.

    As the real one it repeats the request's data, with all keys and passwords that are in it.
    """
    running = found.running if running is None else running
    result = {
        "commands": list(found.commands),
        "progress": [],
        "exitCode": 1 if found.stderr else 0,
        "stderr": list(found.stderr),
        "stdout": list(found.stdout),
    }
    return {
        "jobId": found.id,
        "status": "RUNNING" if running else "FAILED" if found.stderr else "COMPLETED",
        "submitted": found.submitted,
        "completed": "N/A" if running else found.submitted,
        "runtime": 0,
        "request": {"data": found.data, "type": found.method, "url": found.url},
        "result": result if whole and not running else {},
    }
