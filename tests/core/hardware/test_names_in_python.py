"""Names of machines, GPUs and their generations are in data files; Python has none of them."""

import re

import pytest

from core.hardware import profiles
from core.hardware.gpus import ARCHITECTURES
from tests.support.recorded import ROOT

FAMILIES = ("dgx", "hgx", "4029")
"""What names of machines begin with, or contain."""
_GPU = re.compile(r"[a-z]{1,2}\d{3}")
"""The part of a GPU's name that says which one it is: of h200-141gb the first four letters."""
ROOMS = sorted({path.name for path in ROOT.iterdir() if any(path.glob("**/*.py"))} - {"tests", ".venv"})


def words() -> frozenset[str]:
    """Return the names that data files have, and what they begin with."""
    machines = {
        *profiles.PROFILES,
        *(path.stem for path in (ROOT / "core/hardware/machines/incomplete").glob("*.yaml")),
    }
    gpus = {found[0] for each in ARCHITECTURES.values() for name in each.gpus if (found := _GPU.match(name))}
    return frozenset({*machines, *ARCHITECTURES, *gpus, *FAMILIES})


def test_the_names_are_those_of_the_data_files() -> None:
    """What is looked for follows from the files of machines and architectures."""
    assert words() > {"dgx-a100", "dgx-b200", "hgx-h100", "hopper", "volta", "v100", "gb200"}


@pytest.mark.parametrize("room", ROOMS)
def test_python_names_no_machine(room: str) -> None:
    """A machine, GPU or architecture that is added is a file, so Python does not depend on one by its name."""
    name = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, sorted(words())))})(?![a-z])", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if name.search(line)
    ]
    assert not found, "move these names into a data file, or say what is meant without them:\n" + "\n".join(found)
