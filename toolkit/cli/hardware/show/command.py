"""`./hpc hardware show`: what a stack's machines need beyond the cluster."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from core.hardware.profiles import Profile
from stacks.loading import locks
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from toolkit.cli.hardware.show import fleet
from toolkit.cli.hardware.show.machines import chassis, gpus, machines, nccl, published, rails
from toolkit.cli.hardware.show.network import levels, network
from toolkit.cli.hardware.show.room import Rack, parts, space
from toolkit.cli.hardware.show.section import Section
from toolkit.cli.hardware.show.storage import data, direct_storage, file_system
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption, print_json
from toolkit.cli.shared.paths import ROOT

UnitsOption = Annotated[
    int | None, typer.Option("--rack-units", min=1, help="Rack units that a rack has for machines.")
]
WattsOption = Annotated[
    int | None, typer.Option("--rack-watts", min=1, help="Power and cooling of a rack for machines, W.")
]
FleetOption = Annotated[int | None, typer.Option("--fleet", min=1, help="Vehicles whose recordings are to be stored.")]
HoursOption = Annotated[
    int, typer.Option("--hours", min=1, max=24, help="Hours that each vehicle of --fleet records a day.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, by section, with the columns as keys; null means not given.")
]


def command(
    stack: StackOption = DEFAULT_STACK,
    rack_units: UnitsOption = None,
    rack_watts: WattsOption = None,
    vehicles: FleetOption = None,
    hours: HoursOption = 8,
    *,
    plain: JsonOption = False,
) -> None:
    """Show the hardware that a stack needs beyond the cluster.

    What GPU nodes reserve for themselves, ports next to GPUs, switches, cables, power, racks, and the data sets.
    """
    settings = stacks.read(stack).settings
    locked = locks.read(settings, ROOT)
    chosen = (*file_system(settings, locked), *data(settings, locked))
    all_sections = (*sections(settings, _rack(rack_units, rack_watts)), *chosen, *_fleet(vehicles, hours))
    if plain:
        print_json({section.name: section.data() for section in all_sections})
        return
    for section in all_sections:
        section.show()


def sections(settings: Settings, rack: Rack | None) -> tuple[Section, ...]:
    """Return all sections, in the order in which a platform is planned; raise Problem for too small a rack."""
    pools = settings.gpu_pools
    return (
        *(part for pool in pools for part in _of_pool(pool, machines(pool), rails(pool), nccl(pool, settings))),
        *(part for pool in pools for part in _of_pool(pool, *_parts_of(pool.machine))),
        *direct_storage(settings),
        *(part for pool in pools for part in _of_pool(pool, *network(pool, settings))),
        *levels(settings),
        *(part for pool in pools for part in _of_pool(pool, *parts(pool), space(pool, rack))),
    )


def _fleet(vehicles: int | None, hours: int) -> tuple[Section, ...]:
    return fleet.sections(vehicles, hours) if vehicles else ()


def _parts_of(machine: Profile) -> Iterator[Section]:
    yield gpus(machine)
    yield from (section for section in (chassis(machine), published(machine)) if section)


def _of_pool(pool: Pool, *parts: Section) -> Iterator[Section]:
    """Yield sections under the name of their pool, where the stack has `pools`."""
    yield from (replace(part, name=f"{part.name} of pool {pool.name}") if pool.declared else part for part in parts)


def _rack(units: int | None, watts: int | None) -> Rack | None:
    if units is None and watts is None:
        return None
    if units is None or watts is None:
        raise Problem("a rack has both units and power", "Give --rack-units and --rack-watts together.")
    return Rack(units=units, watts=watts)
