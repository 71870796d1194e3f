"""`./hpc data drift`: the distance of a data set from all frames of its cameras."""

import json
from pathlib import Path

import pytest

from tests.support.catalogues import catalogue_of
from tests.support.commands import finished
from tests.toolkit.cli.data.kit import HALVES, Change
from tests.toolkit.datasets.kit import A2D2, image
from toolkit.cli.data import drift, select
from toolkit.cli.shared.errors import Problem


def test_the_distance_of_a_set_and_its_splits(change: Change) -> None:
    """Frames with a bicycle have more of it than all frames, and so has each split."""
    change(split=HALVES)
    finished(select.command, "bikes", "--stack", "lab")
    found = json.loads(finished(drift.command, "bikes", "--stack", "lab", "--json")[1])
    assert found["all"]["distance"] == pytest.approx(1 / 105 - 4 / 840)
    assert found["all"]["differences"]["bicycle"] == pytest.approx(1 / 105 - 4 / 840)
    assert {*found} == {"all", "train", "validation"}
    status, text = finished(drift.command, "bikes", "--stack", "lab")
    assert status == 0
    assert "bicycle +0.48 %" in text


@pytest.mark.usefixtures("change")
def test_a_bound_is_judged() -> None:
    """The exit status is 1 where a distance is beyond the bound, which names the parts."""
    finished(select.command, "bikes", "--stack", "lab")
    assert finished(drift.command, "bikes", "--stack", "lab", "--bound", "0.1")[0] == 0
    status, text = finished(drift.command, "bikes", "--stack", "lab", "--bound", "0.001")
    assert status == 1
    assert "all: beyond the bound 0.001; choose other windows or shares" in text


def test_a_catalogue_without_the_cameras_is_refused(tmp_path: Path, change: Change) -> None:
    """There is no distance from no frames."""
    change()
    finished(select.command, "bikes", "--stack", "lab")
    catalogue_of(tmp_path / "data" / "a2d2.sqlite", A2D2, {image(1, 1, "front_left"): {"sky": 1}})
    with pytest.raises(Problem, match="the catalogue has no frame of front_center"):
        finished(drift.command, "bikes", "--stack", "lab")
