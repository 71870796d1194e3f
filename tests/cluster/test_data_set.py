"""A data set from its images to the verdict, and to a better choice, on stack a2d2: the walk of docs/guide/data.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clusters import require_tools
from tests.support.lab import Lab, checkout
from tests.support.page_blocks import blocks, walked
from tests.support.recorded import ROOT
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.simulated import spec as simulated_spec

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "guide" / "data.md"
STACK = ("--stack", "a2d2")
WALK = "8. The complete walkthrough"
SETS = Path(".sim/a2d2/volumes/perception/sets")
SETTINGS = Path("stacks/examples/a2d2.yaml")
PASSED = {
    ("stage-rare", "data-staged"): "pass",
    ("segmentation-02x08", "data-set"): "pass",
    ("segment", "data-set"): "pass",
    ("segment", "data-slices"): "pass",
    ("segment-reduce", "data-slices"): "pass",
}


@pytest.fixture(name="lab")
def _lab(tmp_path: Path) -> Iterator[Lab]:
    """Give a checkout without a cluster."""
    require_tools(simulated_spec.of(stacks.read("a2d2")))
    with checkout(tmp_path) as lab:
        try:
            yield lab
        finally:
            lab.hpc("sim", "clean", "--name", "a2d2")


def verdicts(lab: Lab) -> dict[tuple[str, str], str]:
    """Return how each criterion of data came out, by job, without the digest, and criterion."""
    found = json.loads(lab.hpc("verify", "--json", *STACK).stdout)
    return {
        (re.sub(r"-[0-9a-f]{10}$", "", one["job"].partition("/")[2]), one["criterion"]): one["status"]
        for one in found["verdicts"]
        if one["criterion"].startswith("data-")
    }


def test_the_walk_from_labels_to_a_better_choice(lab: Lab) -> None:
    """Jobs read what is locked, and prove it; what an evaluation missed is chosen next, staged, and trained on."""
    first, evaluation, second = (block.text for block in blocks(PAGE) if block.heading == WALK)
    assert "passed: " in walked(first, lab.root)
    assert verdicts(lab) == PASSED
    assert "at_least: {bicycle: " in walked(evaluation, lab.root)
    printed = walked(second, lab.root)
    assert "data set rare of perception is chosen by other at_least and pixels" in printed
    assert "passed: " in printed
    assert verdicts(lab) == PASSED
    _lose_a_label(lab)


def _lose_a_label(lab: Lab) -> None:
    """Take a label away that the training reads: its job ends at once, and verification names the cause."""
    trained = (lab.root / "stacks/examples/rare.train.list").read_text()
    label = next(path for path in trained.split() if "/label/" in path)
    (lab.root / SETS / label).unlink()
    file = lab.root / SETTINGS
    file.write_text(file.read_text().replace("run: 2", "run: 3"))
    assert "hpc-data error kind=files-missing" in lab.fails("up", *STACK)
    text = lab.hpc("verify", *STACK).stdout
    assert "frames of the data set have no labels" in " ".join(text.split())
