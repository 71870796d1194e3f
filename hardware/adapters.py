"""Network adapters by model: how tools name them; the data is in `adapters.yaml`."""

from functools import cache
from pathlib import Path

from pydantic import Field

from hardware.data_files import checked, read
from hardware.model import Model

FILE = Path(__file__).with_name("adapters.yaml")


class Adapter(Model):
    """One model of adapters."""

    ca_type: int = Field(ge=0, lt=1 << 16, description="number of the CA type, which is the PCI device id")
    lspci: str = Field(description="name that lspci prints after the vendor's")


class _Adapters(Model):
    known: dict[str, Adapter]


UNKNOWN = Adapter(ca_type=0, lspci="Device")
"""Of an adapter that the file does not have."""


def adapter(model: str) -> Adapter:
    """Return the adapter that `ports.adapter` of a machine names; UNKNOWN for another."""
    known = _known()
    found = max((name for name in known if model.startswith(name)), key=len, default=None)
    return UNKNOWN if found is None else known[found]


@cache
def _known() -> dict[str, Adapter]:
    return checked(_Adapters, {"known": read(FILE)}, FILE).known
