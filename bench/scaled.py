"""Settings of a cluster of any size: those of prod, with as many GPU nodes and tenants as wanted, and one short job."""

from itertools import combinations, islice
from pathlib import Path
from typing import Any

from stacks.loading.settings import whole

_FIRST_ID = 1_000_000_000
_IDS = 10_000
_CATEGORIES = 64
"""Of SELinux: pairs of so many are 2016 different levels."""
_SCALE_WORKERS = 128
"""That container-native Storage Scale supports: larger clusters have other storage."""
_GPUS = 8
"""Of one node: a tenant with a job has those of one, and the others share the rest."""


def platform(root: Path, nodes: int, tenants: int, working: int = 1) -> dict[str, Any]:
    """Return what `hpc:platform` holds, for `nodes` GPU nodes and `tenants` tenants.

    The platform is that of prod. One job on one node is what runs, so that a measurement is of the platform; or that of
    each of the first `working` tenants. Tenants are written as short as can be: docs/reference/scale.md says how long
    the settings of one stack may be.
    """
    base: dict[str, Any] = whole("prod", root).data
    machine = base["nodes"][-1] | {"name": f"gpu[0001-{nodes:04d}].hpc.example.com"}
    directory = base["tenants"][0]
    levels = islice(combinations(range(_CATEGORIES), 2), tenants)
    share = (nodes - working) * _GPUS // max(1, tenants - working)
    teams = [_tenant(directory, number, level, share) for number, level in enumerate(levels)]
    if len(base["nodes"]) + nodes > _SCALE_WORKERS:
        base, teams = base | {"storage": None}, [_claim(team) for team in teams]
    first = [team | {"gpu_quota": _GPUS} for team in teams[:working]]
    builds = [base["builds"][0] | {"tenant": team["namespace"]} for team in first]
    program = next(job["program"] for stage in base["stages"] for job in stage["workloads"] if job["kind"] == "mpi")
    jobs = [
        {
            "kind": "mpi",
            "tenant": build["tenant"],
            "name": "nccl-test",
            "program": program,
            "layout": {"pods": 1, "gpus": _GPUS},
            "build": build["name"],
        }
        for build in builds
    ]
    return base | {
        # One node after another, as prod has it, would be all that is measured of a large cluster.
        "tuning": base["tuning"] | {"at_once": "25%"},
        "nodes": [*base["nodes"][:-1], machine],
        "tenants": [*first, *teams[working:]],
        "builds": builds,
        "stages": [{"name": "nccl", "workloads": jobs}],
    }


def _tenant(like: dict[str, Any], number: int, level: tuple[int, int], gpus: int) -> dict[str, Any]:
    name, start = f"team{number:03d}", _FIRST_ID + number * _IDS
    return {
        **{key: like[key] for key in ("isolated", "container_resources")},
        "namespace": name,
        "uid_range": {"start": start},
        "mcs": f"s0:c{level[1]},c{level[0]}",
        "run_as_uid": start + 1000,
        "run_as_gid": start + 1000,
        "gpu_quota": gpus,
        "volumes": [
            {
                "name": "data",
                "kind": "directory",
                "volume": f"{name}-data-pv01",
                "claim": f"{name}-data-pvc",
                "path": f"/mnt/ess3000/{name}",
                "capacity": like["volumes"][0]["capacity"],
            }
        ],
    }


def _claim(team: dict[str, Any]) -> dict[str, Any]:
    """Return a tenant with a claim of the cluster's own class in place of a directory."""
    (directory,) = team["volumes"]
    same = {key: directory[key] for key in ("name", "claim", "capacity")}
    return team | {"volumes": [{"kind": "claim", "storage_class": "sim-files", **same}]}
