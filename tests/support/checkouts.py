"""A copy of the checkout, as a fresh clone has it: nothing that was built, run or written by a walk through a page."""

import shutil
import sys
from pathlib import Path

from tests.support.recorded import ROOT

# Compiled modules come along: commands run in a copy by the hundred, and each would compile them again (0.2 s of CPU).
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".sim", "out", ".*_cache", "evidence-*", "*.lab.yaml", "Pulumi.lab.*", "Pulumi.site.yaml"
)


def copy(folder: Path) -> Path:
    """Copy the checkout below `folder`, with the environment that runs the test, and return the copy's root."""
    root = folder / "checkout"
    shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
    (root / ".venv").symlink_to(Path(sys.prefix))
    return root
