"""A project in a folder of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.catalogues import catalogue_of
from tests.support.data_sets import BIKES
from tests.support.stack_settings import data
from tests.toolkit.cli.data.kit import FRAMES, VOLUMES, Change
from tests.toolkit.datasets.kit import A2D2
from toolkit.cli.data import chosen, select, sources
from toolkit.cli.shared import stack


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Return what changes the data set of the stack `lab`; the project is in `tmp_path`."""
    for module in (stack, chosen, select, sources):
        monkeypatch.setattr(module, "ROOT", tmp_path)

    def write(**changes: Any) -> None:
        content = data("pytorch")
        content["tenants"][0] |= {"volumes": VOLUMES, "data_sets": [BIKES | changes]}
        settings = {"config": {"hpc:platform": content | {"stages": []}}}
        (tmp_path / "Pulumi.lab.yaml").write_text(json.dumps(settings))

    catalogue_of(tmp_path / "data" / "a2d2.sqlite", A2D2, FRAMES)
    write()
    return write
