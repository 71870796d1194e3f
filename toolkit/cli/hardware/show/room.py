"""Racks and power for machines."""

from pydantic import Field

from core.hardware.profiles import Profile
from core.model import Model


class Rack(Model):
    """What a rack offers to machines. No source document gives it: it is the site's."""

    units: int = Field(gt=0, description="rack units for machines, without those of switches and power strips")
    watts: int = Field(gt=0, description="power and cooling, W")


class Room(Model):
    """What machines need of a room. Switches, storage and cooling come on top."""

    nodes: int
    watts: int = Field(description="most that they draw together, W")
    rack_units: int
    nodes_per_rack: int
    racks: int


def room(profile: Profile, nodes: int, rack: Rack) -> Room:
    """Return the racks and the power that `nodes` machines of a profile need.

    Raises ValueError when a rack holds no machine, and for a machine whose power or height no document gives.
    """
    if profile.power_watts is None or profile.rack_units is None:
        raise ValueError(f"{profile.name}: no source document gives its power and height; a room cannot be planned")
    per_rack = min(rack.units // profile.rack_units, rack.watts // profile.power_watts)
    if per_rack < 1:
        raise ValueError(
            f"a rack of {rack.units} units and {rack.watts} W holds no {profile.name}, "
            f"which has {profile.rack_units} units and draws {profile.power_watts} W"
        )
    return Room(
        nodes=nodes,
        watts=nodes * profile.power_watts,
        rack_units=nodes * profile.rack_units,
        nodes_per_rack=per_rack,
        racks=-(-nodes // per_rack),
    )
