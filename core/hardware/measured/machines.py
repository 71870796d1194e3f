"""Names of the machines on which the documents measured."""

from pathlib import Path

from core.data_files import read, validate
from core.model import Model


class _Machines(Model):
    redpaper: str
    supermicro: str


_FILE = Path(__file__).with_suffix(".yaml")
_FOUND = validate(_Machines, read(_FILE), _FILE)
REDPAPER_MACHINE = _FOUND.redpaper
SUPERMICRO_MACHINE = _FOUND.supermicro
