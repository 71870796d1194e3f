"""Settings of stack pytorch with a data set, a staging, and jobs after it; the locks of the set."""

from pathlib import Path
from typing import Any

from core.datasets import lock
from core.datasets.lock import Lock
from tests.support.stack_settings import data
from tests.toolkit.datasets.kit import Row, a_choice, image, row, selected

SETS = {"name": "sets", "kind": "claim", "claim": "sets", "storage_class": "nfs", "capacity": "1Gi", "read_only": True}
OUT = {"name": "out", "kind": "claim", "claim": "out", "storage_class": "nfs", "capacity": "1Gi"}
BIKES = {
    "name": "bikes",
    "card": "a2d2",
    "source": {"kind": "sqlite", "path": "data/a2d2.sqlite"},
    "cameras": ["front_center"],
    "pixels": {"bicycle": [1, None]},
    "volume": "sets",
}
SPLIT = {"split": {"parts": {"train": 0.4, "validation": 0.6}}}
STAGE = {"kind": "stage-data", "tenant": "training", "data_set": "bikes", "image": "quay.io/example/train:1.2"}
PROGRAM = {
    "command": ["train.py"],
    "kinds": ["torch", "indexed"],
    "images": ["quay.io/example/train:1.2"],
    "mounts": {"/out": {"volume": "out"}},
}
TRAIN = {
    "kind": "torch",
    "tenant": "training",
    "name": "train",
    "program": "train",
    "layout": {"pods": 2, "gpus": 8},
    "data_set": "bikes",
    "wait": "finished",
}
INFER = {
    "kind": "indexed",
    "tenant": "training",
    "name": "infer",
    "program": "train",
    "data_set": "bikes",
    "slices": 4,
    "results": "/out/infer",
}
ROWS = [row(image(number, scene), {"bicycle": number}) for scene in (1, 2) for number in (1, 2, 3)]
"""Frames of two scenes."""


def staged(*jobs: dict[str, Any], before: Any = STAGE, data_set: Any = None, program: Any = None) -> dict[str, Any]:
    """Return the settings of stack pytorch with a staging, and jobs in a stage after it."""
    content = data("pytorch") | {"trainer": None}
    content["tenants"][0] |= {"volumes": [SETS, OUT], "data_sets": [BIKES | (data_set or {})]}
    content["programs"] = {"train": PROGRAM | (program or {})}
    first = [{"name": "data", "workloads": [before]}] if before else []
    return content | {"stages": [*first, {"name": "jobs", "workloads": [*jobs]}]}


def locked(rows: list[Row] = ROWS) -> Lock:
    """Return the lock of the set, divided by scenes."""
    return selected(a_choice(name="bikes", pixels=BIKES["pixels"], **SPLIT), rows).lock


def write_lock(root: Path, rows: list[Row] = ROWS) -> None:
    """Write that lock as `./hpc data select` does."""
    file = root / "data" / "bikes.lock.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(lock.text(locked(rows)))
