"""Node profiles: what one machine of a model has; the data is in `core/hardware/machines`."""

import json
from collections.abc import Sequence
from functools import cache

from core.hardware.profiles.catalogue import PROFILES, missing, read_machine
from core.hardware.profiles.records import (
    MELLANOX_PCI_VENDOR,
    NVIDIA_PCI_VENDOR,
    Device,
    Hca,
    NumaNode,
    NvLink,
    Ports,
    Profile,
)
from core.model import by_identity

__all__ = [
    "MELLANOX_PCI_VENDOR",
    "NVIDIA_PCI_VENDOR",
    "PROFILES",
    "Device",
    "Hca",
    "NumaNode",
    "NvLink",
    "Ports",
    "Profile",
    "from_json",
    "missing",
    "on_ethernet",
    "profile",
    "read_machine",
    "to_json",
    "with_hcas",
]


def profile(name: str) -> Profile:
    """Return the profile called `name`; raise ValueError, naming the known ones, for another."""
    if name in PROFILES:
        return PROFILES[name]
    if open_fields := missing(name):
        raise ValueError(
            f"machine {name!r} is incomplete: {', '.join(open_fields)} differ from site to site or are in no "
            f"source; write a machine file with `base: {name}` that gives them, and name it in `machines`"
        )
    raise ValueError(
        f"unknown machine {name!r}; known: {', '.join(sorted(PROFILES))}; "
        "or name a machine file of your own in `machines`"
    )


def with_hcas(machine: Profile, hcas: Sequence[Hca]) -> Profile:
    """Return the machine with its compute ports named, in the order of the rails.

    For a profile whose documents give only their number. Raises ValueError (a pydantic one) where number, rate or
    GPUs contradict the machine.
    """
    return _with_hcas(machine, tuple(hcas))


@by_identity(results=128)
def _with_hcas(machine: Profile, hcas: tuple[Hca, ...]) -> Profile:
    return Profile.model_validate({**dict(machine), "hcas": hcas})


@by_identity(results=128)
def on_ethernet(machine: Profile) -> Profile:
    """Return the machine with its compute ports in Ethernet mode; unchanged where their names in it are not known."""
    if machine.link_layer == "Ethernet" or not machine.hcas or any(hca.ethernet is None for hca in machine.hcas):
        return machine
    hcas = tuple(hca.model_copy(update={"netdev": hca.ethernet}) for hca in machine.hcas)
    return machine.model_copy(update={"link_layer": "Ethernet", "hcas": hcas})


def to_json(machine: Profile) -> str:
    """Return a machine as text from which `from_json` makes it again."""
    gpu = {name: getattr(machine.gpu, name) for name in type(machine.gpu).model_fields}
    return json.dumps(machine.model_dump(mode="json") | {"gpu": gpu})


@cache
def from_json(text: str) -> Profile:
    """Return the machine that `to_json` wrote."""
    return Profile.model_validate_json(text)
