"""How a simulated cluster is recognised without the simulator: its folder, its context, and the mark of its nodes."""

import os
import re
from pathlib import Path

from core import project
from core.errors import UserError

MARKS = "hpc.sim/"
"""Prefix of the annotations of simulated clusters."""
SIMULATED_BY = MARKS + "simulated-by"
"""On nodes and pods: the part of the simulator that simulates it."""
STATE_FILE = "cluster.json"
"""In a cluster's folder: its ports, tools and specification."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")


def root() -> Path:
    """Folder of all simulated clusters: $HPC_SIM_HOME, else .sim of the project."""
    chosen = os.environ.get("HPC_SIM_HOME")
    return Path(chosen).expanduser().absolute() if chosen else project.FOLDER / ".sim"


def home(name: str) -> Path:
    """Return the folder of the cluster called `name`; raise UserError for a name that no folder or context can have."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"cluster name {name!r}: use at most 40 lower-case letters, digits and inner dashes, e.g. `default`."
        )
    return root() / name


def context_name(cluster: str) -> str:
    """Return the name of the user's kubeconfig context on the cluster called `cluster`."""
    return f"hpc-sim-{cluster}"
