"""Collectives over today's NVLink within one machine, as torch.distributed timed them."""

import csv
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from pydantic import Field

from core.data_files import read, validate
from core.model import Model

_UNIT = "_us"
_FILE = Path(__file__).with_suffix(".yaml")


class MeasuredCollectives(Model):
    """Times of collectives on the GPUs of one machine, by message size."""

    gpus: int = Field(gt=0, description="of the machine, a rank each")
    nvlink_generation: int = Field(gt=0, description="of the links between them")
    nvlink_gbs: int = Field(gt=0, description="bandwidth of one GPU's links in GB/s, both directions together")
    table: str = Field(description="file of the times: a column of sizes in bytes, and one of microseconds for each")
    source: str = Field(description="machine, versions and date")

    @cached_property
    def times_us(self) -> Mapping[str, Mapping[int, float]]:
        """Collective, as nccl-tests calls its program -> bytes, as nccl-tests prints them -> median time, us."""
        with _FILE.with_name(self.table).open(encoding="utf-8", newline="") as content:
            rows = list(csv.DictReader(content))
        names = [column.removesuffix(_UNIT) for column in rows[0] if column.endswith(_UNIT)]
        return {name: {int(row["bytes"]): float(row[f"{name}{_UNIT}"]) for row in rows} for name in names}


NVLINK_COLLECTIVES = validate(MeasuredCollectives, read(_FILE), _FILE)
