"""Rings that NCCL makes over the ranks of a communicator: inside a host along NVLink, between hosts through one HCA."""

from collections.abc import Iterator, Sequence
from functools import cache

from toolkit.simulator.performance.communicator import Communicator, Rank

Ring = tuple[Rank, ...]


def rings(group: Communicator) -> tuple[Ring, ...]:
    """Return one ring for each channel; a rank's next follows it, the first follows the last."""
    if not group.several_hosts:
        return tuple(_inside(group, channel) for channel in range(group.channels))
    return tuple(
        tuple(rank for ranks in group.by_host for rank in _path(group, ranks, channel))
        for channel in range(group.channels)
    )


def _inside(group: Communicator, channel: int) -> Ring:
    ranks = group.by_host[0]
    profile = group.profile
    orders = _cycles(profile.nvlink.links, tuple(rank.gpu for rank in ranks)) if profile else ()
    by_gpu = {rank.gpu: rank for rank in ranks}
    alternatives = [tuple(by_gpu[gpu] for gpu in order) for order in orders] or [ranks]
    order = alternatives[channel // 2 % len(alternatives)]
    # Every link carries as much in one direction as in the other.
    return order if channel % 2 == 0 else (order[0], *order[:0:-1])


def _path(group: Communicator, ranks: Sequence[Rank], channel: int) -> Sequence[Rank]:
    """Return the ranks of a host in the order in which data passes them: in and out beside the channel's HCA.

    Where only one GPU is beside it, data comes in there: it can leave from another (`Communicator.sender`).
    """
    if len(ranks) == 1:
        return ranks
    device = group.device(ranks[0], channel)
    near = sorted(ranks, key=lambda rank: group.distance(rank, device)) if group.network == "IB" else list(ranks)
    first, last = near[:2]
    if group.network == "Socket" or group.distance(first, device) == group.distance(last, device):
        first, last = last, first
    profile = ranks[0].worker.machine.profile
    links = profile.nvlink.links if profile else ()
    order = _walk(links, first.gpu, last.gpu, frozenset(rank.gpu for rank in ranks))
    by_gpu = {rank.gpu: rank for rank in ranks}
    if order is not None:
        return [by_gpu[gpu] for gpu in order]
    return [first, *(rank for rank in ranks if rank not in (first, last)), last]


@cache
def _walk(links: tuple[tuple[int, ...], ...], first: int, last: int, gpus: frozenset[int]) -> tuple[int, ...] | None:
    """Return a way from one GPU to another over all of them, along links; None where there is none."""
    if not links:
        return None
    return next(_ways(links, (first,), gpus, last), None)


@cache
def _cycles(links: tuple[tuple[int, ...], ...], gpus: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return round trips over all GPUs that do not use a link more often than it is there, as many as fit."""
    if not links or len(gpus) < 3:  # noqa: PLR2004 - two GPUs have one way round
        return ()
    left = [list(row) for row in links]
    cycles: list[tuple[int, ...]] = []
    while True:
        free = tuple(map(tuple, left))
        way = next((path for path in _ways(free, (gpus[0],), frozenset(gpus), None) if free[path[-1]][gpus[0]]), None)
        if way is None:
            return tuple(cycles)
        cycles.append(way)
        for gpu, other in zip(way, (*way[1:], way[0]), strict=True):
            left[gpu][other] -= 1
            left[other][gpu] -= 1
        if len(cycles) == len(gpus):
            return tuple(cycles)


def _ways(
    links: Sequence[Sequence[int]], path: tuple[int, ...], gpus: frozenset[int], last: int | None
) -> Iterator[tuple[int, ...]]:
    rest = gpus.difference(path)
    if not rest:
        yield path
        return
    for gpu in sorted(rest):
        if links[path[-1]][gpu] and (gpu != last or len(rest) == 1):
            yield from _ways(links, (*path, gpu), gpus, last)
