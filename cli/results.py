"""Where the results of a stack are kept."""

from pathlib import Path

from cli.places import ROOT
from cli.stack import Stack
from evidence.records import FILE


def file(stack: Stack) -> Path:
    """Return the file of a stack's runs.

    Those of a simulated cluster are in its home and go with it; those of a real one are in .hpc of the checkout.
    """
    folder = stack.home / "results" if stack.simulated else ROOT / ".hpc"
    return folder / stack.name / FILE
