"""What the REST interface answers a GET: shapes as IBM's CSI driver reads them, numbers as numbers."""

from collections.abc import Iterator
from typing import Any

from toolkit.simulator.scale_management.calls import Home, advanced, state_of
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
    configuration = {
        "clusterId": state.cluster_id,
        "minReleaseLevel": VERSION.partition("-")[0] + ".0",
        "timeZoneOffset": "+00:00",
    }
    return {"clusterConfig": configuration}


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
            "name": file_system.name,
            "uuid": file_system.uuid,
            "mount": {
                "mountPoint": file_system.mount_point,
                "status": "mounted",
                "remoteDeviceName": f"{state.cluster_name}:{file_system.name}",
                "nodesMountedReadWrite": [name for name, _ in NODES],
                "readOnly": False,
            },
            "quota": {"perfilesetQuotas": True, "filesetdfEnabled": True, "quotasEnforced": "user;group;fileset"},
        }
        for file_system in state.file_systems.values()
    ]


def filesets(file_system: FileSystem) -> Iterator[dict[str, Any]]:
    """Yield the filesets of a file system."""
    for fileset in file_system.filesets.values():
        afm = {"afm": _afm(fileset.cache)} if fileset.cache else {}
        yield {
            "filesetName": fileset.name,
            "filesystemName": file_system.name,
            "config": {
                "path": fileset.path or "--",
                "id": fileset.id,
                "inodeSpace": fileset.id if fileset.independent else 0,
                "maxNumInodes": fileset.max_inodes,
                "parentId": 0,
                "status": "Linked" if fileset.path else "Unlinked",
                "comment": fileset.comment,
                "isInodeSpaceOwner": fileset.independent,
                "created": fileset.created,
            },
            **afm,
        }


def _afm(cache: Cache) -> dict[str, Any]:
    own = {"afmMode": MODES[cache.mode], "afmTarget": cache.target, "afmEnableAutoEviction": cache.auto_eviction}
    return {"afmPrefetchThreshold": 0, **cache.attributes, **own}


def quotas(file_system: FileSystem) -> Iterator[dict[str, Any]]:
    """Yield use and limits of the filesets, blocks in KiB."""
    for fileset in file_system.filesets.values():
        files = fileset.cache.files if fileset.cache else {}
        yield {
            "filesystemName": file_system.name,
            "objectName": fileset.name,
            "objectId": fileset.id,
            "quotaType": "FILESET",
            "blockUsage": -(-fileset.cache.cached_bytes // _KIB) if fileset.cache else 0,
            "blockQuota": fileset.quota.soft_kib,
            "blockLimit": fileset.quota.hard_kib,
            "filesUsage": 1 + len(files),
        }


def afm_states(file_system: FileSystem, home: Home) -> Iterator[dict[str, Any]]:
    """Yield the state of each cache."""
    for fileset in file_system.filesets.values():
        if fileset.cache:
            yield {
                "filesystemName": file_system.name,
                "filesetName": fileset.name,
                "filesetId": fileset.id,
                "filesetTarget": fileset.cache.target,
                "cacheState": state_of(fileset.cache, home),
                "gatewayNodeName": GATEWAY,
                "queueLength": len(fileset.cache.queue),
                "drState": "",
            }


def moved_on(file_system: FileSystem, home: Home) -> FileSystem:
    """Return a file system after its gateway nodes have fetched some more; itself where nothing is queued."""
    for fileset in file_system.filesets.values():
        if fileset.cache and fileset.cache.queue:
            cache = advanced(fileset.cache, fileset.quota, home)
            file_system = file_system.with_fileset(fileset.model_copy(update={"cache": cache}))
    return file_system


def job(record: Job, *, whole: bool = False, running: bool | None = None) -> dict[str, Any]:
    """Return a job; its result only where the whole is wanted, and not before it is finished.

    As the real one it repeats the request's data, with all keys and passwords that are in it.
    """
    running = record.running if running is None else running
    result = {
        "commands": list(record.commands),
        "progress": [],
        "exitCode": 1 if record.stderr else 0,
        "stderr": list(record.stderr),
        "stdout": list(record.stdout),
    }
    return {
        "jobId": record.id,
        "status": "RUNNING" if running else "FAILED" if record.stderr else "COMPLETED",
        "submitted": record.submitted,
        "completed": "N/A" if running else record.submitted,
        "runtime": 0,
        "request": {"data": record.data, "type": record.method, "url": record.url},
        "result": result if whole and not running else {},
    }
