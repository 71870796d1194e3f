"""Changes of the lab's settings, for as long as a test runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.lab import SETTINGS, Lab

VISION = {"namespace": "vision", "uid_range": {"start": 1075990000}, "mcs": "s0:c31,c2", "gpu_quota": 4, "volumes": []}


@contextmanager
def settings(lab: Lab, *edits: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Change the settings of stack dev for a while."""
    file = lab.root / SETTINGS
    kept = file.read_bytes()
    try:
        for edit in edits:
            lab.change(edit)
        yield
    finally:
        file.write_bytes(kept)


def add_tenant(platform: dict[str, Any]) -> None:
    """Add a tenant."""
    platform["tenants"].append({**platform["tenants"][0], **VISION, "run_as_uid": 1075991000, "run_as_gid": 1075991000})


def run_again(platform: dict[str, Any]) -> None:
    """Run a Job and an MPIJob once more."""
    for stage in (platform["stages"][0], platform["stages"][2]):
        stage["workloads"][0]["run"] = 2
