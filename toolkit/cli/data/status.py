"""`./hpc data status`: the caches of a stack's file system, or that of one data set, as Storage Scale has them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import typer

from toolkit.cli.data import chosen, scale_access
from toolkit.cli.data.chosen import Named, TenantOption
from toolkit.cli.data.scale_gui import Cache, ScaleGui
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, StackOption, print_json
from toolkit.review.data_set_changes import size

_GIB = 1 << 30
_UNHEALTHY = 1

SetName = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="Data set whose cache is shown; without it, all of the stack's.")
]


class Meaning(NamedTuple):
    """What a state means, and whether data can be had and changes reach the home."""

    text: str
    healthy: bool = True


STATES: Mapping[str, Meaning] = {
    "Inactive": Meaning("not used since it was linked: the first access makes it Active"),
    "Active": Meaning("connected to its home"),
    "Dirty": Meaning("has changes that are not at home yet; reading is not affected"),
    "FlushOnly": Meaning("has operations in its queue that it has not begun to send"),
    "QueueOnly": Meaning("collects operations in its queue, and sends none until a recovery or resync is done"),
    "Recovery": Meaning("a gateway node takes it over from another one"),
    "Disconnected": Meaning(
        "its gateway node does not reach the home: what is not cached cannot be read", healthy=False
    ),
    "Unmounted": Meaning("its gateway node has not mounted the home: what is not cached cannot be read", healthy=False),
    "NeedsResync": Meaning("cache and home may differ: `mmafmctl FS resync -j FILESET` repairs it", healthy=False),
    "Expired": Meaning("the home was away for too long: nothing can be read until it is back", healthy=False),
    "Dropped": Meaning("its queue was dropped: operations may be missing at home", healthy=False),
    "Stopped": Meaning("an administrator has stopped it: nothing is fetched", healthy=False),
}
"""AFM's states by their names in IBM's documentation of 5.0 to 6.0 ("Monitoring fileset states", "mmafmctl").

What Dropped and Stopped mean for readers it does not say: they are taken for not healthy.
"""


def meaning(state: str) -> Meaning:
    """Return what a state means; one that is not known is not healthy."""
    return STATES.get(state, Meaning("not a state that hpc knows; see `mmafmctl FS getstate`", healthy=False))


def command(
    name: SetName = None,
    stack_name: StackOption = DEFAULT_STACK,
    tenant: TenantOption = None,
    *,
    plain: JsonOption = False,
) -> None:
    """Show the state of each cache.

    Its meaning, the cache's home and queue, and how much of its quotas is in use; for a data set, the cache of its
    volume, and whether the set fits. Only reads. The account is in HPC_SCALE_USER and HPC_SCALE_PASSWORD; a simulated
    cluster needs neither. Exit status 1 if a cache is not healthy.
    """
    if name is None:
        stack = stacks.read(stack_name)
        file_system = scale_access.storage_of(stack.settings).file_system.name
        with scale_access.gui(stack) as gui:
            caches: Sequence[Cache] = gui.caches(file_system)
        notes = [] if caches else [f"file system {file_system} has no cache"]
    else:
        named = chosen.find(name, stack_name, tenant)
        file_system, cache = of_data_set(named)
        caches, notes = [cache], room(named, cache)
    ill = [cache for cache in caches if not meaning(cache.state).healthy]
    if plain:
        print_json([_data(cache) for cache in caches])
    else:
        _show(file_system, caches, notes)
    if ill:
        for ill_cache in ill:
            typer.echo(
                f"{ill_cache.fileset} is not healthy: {ill_cache.state}, {meaning(ill_cache.state).text}", err=True
            )
        raise typer.Exit(_UNHEALTHY)


def of_data_set(named: Named) -> tuple[str, Cache]:
    """Return the file system of a data set's volume, and the cache that the volume is; raise Problem for none."""
    volume = named.settings.volume
    place = scale_access.place_of(named.stack, named.tenant.namespace, volume, named.tenant.all_volumes[volume])
    with scale_access.gui(named.stack, place.cluster) as gui:
        _require_cluster(gui, place.cluster)
        file_system = gui.file_system(place.file_system_uid)
        caches = {cache.fileset: cache for cache in gui.caches(file_system)}
    if place.fileset not in caches:
        raise Problem(
            f"fileset {place.fileset} of volume {volume} is not a cache of {file_system}, which has "
            f"{', '.join(caches) or 'none'}",
            "Give the volume a storage class of kind cache, or name another data set.",
        )
    return file_system, caches[place.fileset]


def room(named: Named, cache: Cache) -> list[str]:
    """Return what is to be said of a data set's size against the limits of its cache; nothing without a lock."""
    if not named.lock_file.is_file():
        return [f"data set {named.settings.name} has no lock: ./hpc data select {named.settings.name} writes it"]
    needed = named.lock.bytes
    for limit, what, effect in (
        (cache.hard, "hard quota", "what is beyond it cannot be fetched"),
        (cache.soft, "soft quota", "files are evicted while others are fetched"),
    ):
        if limit is not None and needed > limit:
            return [f"data set {named.settings.name} has {size(needed)}, above the {what} of {size(limit)}: {effect}"]
    return [f"data set {named.settings.name} has {size(needed)}"]


def _require_cluster(gui: ScaleGui, expected: str) -> None:
    cluster_id = gui.cluster_id()
    if cluster_id != expected:
        raise Problem(
            f"{gui.host} is the GUI of cluster {cluster_id}, and the volume is of cluster {expected}",
            "Correct id and GUI of that cluster in the settings of storage.",
        )


def _show(file_system: str, caches: Sequence[Cache], notes: Sequence[str]) -> None:
    show_rows(
        f"Caches of {file_system}",
        ("fileset", "state", "waiting", "gateway", "used GiB", "soft GiB", "hard GiB", "details"),
        (
            (
                cache.fileset,
                cache.state,
                f"{cache.queue:,}",
                cache.gateway,
                *map(_gib, (cache.used, cache.soft, cache.hard)),
                f"{meaning(cache.state).text}; home {cache.target}",
            )
            for cache in caches
        ),
    )
    for cache in caches:
        if cache.soft is None:
            print_text(f"{cache.fileset} has no soft quota: nothing is evicted by itself")
    for note in notes:
        print_text(note)


def _gib(number: int | None) -> str:
    return "" if number is None else f"{number / _GIB:,.1f}"


def _data(cache: Cache) -> dict[str, object]:
    state_meaning = meaning(cache.state)
    return {**cache._asdict(), "meaning": state_meaning.text, "healthy": state_meaning.healthy}
