"""Drivers that versions of the GPU Operator support, as `gpu_drivers.yaml` lists them."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from core.data_files import read, validate
from core.model import Model

FILE = Path(__file__).with_name("gpu_drivers.yaml")
Driver = Annotated[str, StringConstraints(pattern=r"^[0-9]{3}\.[0-9]{2,3}(\.[0-9]{2})?$")]


class ActiveBranches(Model):
    """Branches of drivers that NVIDIA supports."""

    branches: tuple[int, ...] = Field(min_length=1)
    source: str


class DriversByPool(Model):
    """Drivers that differ between nodes of a cluster, by objects of kind NVIDIADriver."""

    since: str = Field(pattern=r"^[0-9]+\.[0-9]+$", description="major and minor version of the operator")
    source: str


class GpuDrivers(Model):
    """What NVIDIA lists."""

    source: str
    operators: Mapping[str, tuple[Driver, ...]] = Field(
        description="major and minor version of the operator -> its drivers, from the newest on"
    )
    by_pool: DriversByPool
    active: ActiveBranches

    def supports(self, operator: str, driver: str) -> bool:
        """Return whether a version of the operator supports a driver; True for one that is not listed at all."""
        listed = self.operators.get(operator)
        if listed is None or driver in listed:
            return True
        return _branch(driver) in self.active_with(operator)

    def differ_with(self, operator: str) -> bool:
        """Return whether a version of the operator has a driver for each pool."""
        return _numbers(operator) >= _numbers(self.by_pool.since)

    def active_with(self, operator: str) -> Sequence[int]:
        """Return the active branches that a version of the operator lists."""
        listed = {*map(_branch, self.operators[operator])}
        return [branch for branch in self.active.branches if branch in listed]

    def newest(self, operator: str) -> Sequence[str]:
        """Return the newest driver of each branch that a version of the operator lists, from the newest on."""
        by_branch: dict[int, str] = {}
        for driver in self.operators[operator]:
            by_branch.setdefault(_branch(driver), driver)
        return tuple(by_branch.values())

    def newest_of(self, operator: str, branch: int) -> str | None:
        """Return the newest driver of a branch that a version of the operator lists; None: it lists none."""
        if operator not in self.operators:
            return None
        return next((driver for driver in self.newest(operator) if _branch(driver) == branch), None)


def _branch(driver: str) -> int:
    return int(driver.partition(".")[0])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@cache
def gpu_drivers() -> GpuDrivers:
    """Return the lists; raise DataFileError for a wrong file."""
    return validate(GpuDrivers, read(FILE), FILE)
