"""Which engine the tests run."""

import subprocess

from simulator.tools import find


def engine_version() -> str:
    """Return the version that the engine reports."""
    return subprocess.check_output([find("pulumi"), "version"], text=True).strip().removeprefix("v")
