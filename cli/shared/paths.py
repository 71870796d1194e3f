"""Where things are in the repository."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
POLICIES = ROOT / "policies"
PROJECT = "hpc"


def own_files() -> Path:
    """Return the user's folder for what commands leave behind: logs, backups."""
    above = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(above) / "hpc"
