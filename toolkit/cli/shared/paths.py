"""Where things are: in the folder of the project, in the product, and in the user's home."""

import os
from pathlib import Path

from core import project

ROOT = project.FOLDER
POLICIES = project.PRODUCT / "policies"
PROJECT = "hpc"


def own_files() -> Path:
    """Return the user's folder for what commands leave behind: logs, backups."""
    above = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(above) / "hpc"
