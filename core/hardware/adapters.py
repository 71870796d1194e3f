"""Network adapters by model: how tools name them; the data is in `adapters.yaml`."""

import re
from functools import cache
from pathlib import Path

from pydantic import Field

from core.data_files import read, validate
from core.model import Model

FILE = Path(__file__).with_name("adapters.yaml")
_CA_TYPE = re.compile(r"MT(41\d\d|41[67]\d\d)")
"""Device ids of mlx5 adapters; chips have other numbers: that of a ConnectX-4 is MT27700."""


class Adapter(Model):
    """One model of adapters."""

    ca_type: int = Field(ge=0, lt=1 << 16, description="number of the CA type, which is the PCI device id")
    lspci: str = Field(description="name that lspci prints after the vendor's")


class _Adapters(Model):
    adapters: dict[str, Adapter]


UNKNOWN = Adapter(ca_type=0, lspci="Device")
"""Of an adapter that the file does not have."""


def adapter(model: str) -> Adapter:
    """Return the adapter that `ports.adapter` of a machine names, by model or CA type; UNKNOWN for another.

    A CA type that the file does not have is an adapter as well: its number is all that tools need.
    """
    adapters = _adapters()
    model = model_of(model) or model
    longest = max((name for name in adapters if model.startswith(name)), key=len, default=None)
    if longest is not None:
        return adapters[longest]
    ca_type = _CA_TYPE.fullmatch(model)
    return Adapter(ca_type=int(ca_type[1]), lspci=UNKNOWN.lspci) if ca_type else UNKNOWN


def model_of(ca_type: str) -> str | None:
    """Return the model with a CA type as ibstat prints it, e.g. MT4129; None for one that the file does not have."""
    return next((name for name, listed in _adapters().items() if ca_type == f"MT{listed.ca_type}"), None)


@cache
def _adapters() -> dict[str, Adapter]:
    return validate(_Adapters, {"adapters": read(FILE)}, FILE).adapters
