"""Where the results of a stack are stored."""

from pathlib import Path

from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.evidence.records import FILE, ROUNDS


def folder(stack: Stack) -> Path:
    """Return the folder of a stack's results.

    Those of a simulated cluster are in its home and go with it; those of a real one are in .hpc of the checkout.
    """
    return (stack.home / "results" if stack.simulated else ROOT / ".hpc") / stack.name


def file(stack: Stack) -> Path:
    """Return the file of a stack's runs."""
    return folder(stack) / FILE


def rounds(stack: Stack) -> Path:
    """Return the file of the rounds of a stack's suite."""
    return folder(stack) / ROUNDS


def logs(stack: Stack) -> Path:
    """Return the folder of the logs that were read last; runs store the lines that count."""
    return folder(stack) / "logs"
