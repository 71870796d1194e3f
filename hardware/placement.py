"""Placement as arithmetic: which pods fit on which nodes at the same time."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from hardware.model import Model
from hardware.profiles import Profile

Demand = Mapping[str, int]


class Reserve(Model):
    """What a GPU node keeps for itself, so that its pods' limits together leave it room."""

    cpus: int = Field(default=8, ge=0, description="logical CPUs for the system and the Spectrum Scale daemon")
    memory_gib: int = Field(default=144, ge=0, description="GiB: a pagepool of 128 (R-3.3-7) and 16 for the system")


class Share(Model):
    """Part of a machine."""

    cpus: int = Field(gt=0, description="logical CPUs, whole ones")
    memory_gib: int = Field(gt=0, description="GiB")


def share(profile: Profile, gpus: int, reserve: Reserve) -> Share:
    """Return what goes with `gpus` of a machine's GPUs: as large a part of what it does not keep for itself.

    Raises ValueError when it keeps so much that a GPU gets less than one CPU or one GiB.
    """
    cpus = (profile.cpus - reserve.cpus) // profile.gpus
    memory = (profile.memory_gib - reserve.memory_gib) // profile.gpus
    if cpus < 1 or memory < 1:
        raise ValueError(
            f"a reserve of {reserve.cpus} CPUs and {reserve.memory_gib} GiB leaves a GPU of {profile.name} "
            f"(of {profile.cpus} CPUs, {profile.memory_gib} GiB) less than one of each; lower it"
        )
    return Share(cpus=cpus * gpus, memory_gib=memory * gpus)


def fits(pods: Iterable[Demand], free: Mapping[str, Demand]) -> bool:
    """Say whether all `pods` can be placed on the nodes' `free` resources at once.

    Demands and free resources are whole numbers per resource name. First fit, largest pod first: it may refuse a set
    that some cleverer packing would place, and never accepts one that the scheduler could not place that way.
    """
    left = {node: dict(resources) for node, resources in free.items()}
    for pod in sorted(pods, key=lambda demand: sum(demand.values()), reverse=True):
        for resources in left.values():
            if all(resources.get(name, 0) >= amount for name, amount in pod.items()):
                for name, amount in pod.items():
                    resources[name] -= amount
                break
        else:
            return False
    return True


def waves(jobs: Sequence[tuple[str, Sequence[Demand]]], free: Mapping[str, Demand]) -> list[list[str]]:
    """Group `jobs` (name, pods), in their order, into waves whose pods all fit at the same time.

    Without gang scheduling two jobs that do not fit together can each hold half of the nodes and wait for ever; jobs of
    one wave cannot. A job that does not fit even alone gets a wave of its own, where it stays visibly pending.
    """
    grouped: list[list[str]] = []
    pods: list[Demand] = []
    for name, demands in jobs:
        if grouped and fits([*pods, *demands], free):
            grouped[-1].append(name)
            pods.extend(demands)
        else:
            grouped.append([name])
            pods = list(demands)
    return grouped
