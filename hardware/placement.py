"""Placement as arithmetic: which pods fit on which nodes at the same time."""

from collections.abc import Iterable, Mapping, Sequence

Demand = Mapping[str, int]


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
