"""A data set from its pictures to the verdict, on stack a2d2: the commands of docs/data.md, on files that are there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cli.shared import stack as stacks
from tests.support.clusters import require_tools
from tests.support.lab import Lab, checkout

pytestmark = pytest.mark.cluster

STACK = ("--stack", "a2d2")
VOLUMES = Path(".sim/a2d2/volumes/perception")
SETTINGS = Path("stacks/examples/a2d2.yaml")


@pytest.fixture(name="lab")
def _lab(tmp_path: Path) -> Iterator[Lab]:
    """Give a checkout whose cluster has a generated data set on its volume."""
    require_tools(stacks.read("a2d2").spec())
    with checkout(tmp_path) as lab:
        sets = lab.root / VOLUMES / "sets"
        (lab.root / VOLUMES / "results").mkdir(parents=True)
        lab.works("data", "generate", str(sets / "a2d2"), "--frames", "40")
        origin = ("--card", "a2d2", "--platform", "IBM COS", "--datasource", "a2d2")
        lab.works("data", "index", str(sets / "a2d2"), "-o", "data/a2d2.sqlite", *origin)
        lab.works("data", "select", "rare", *STACK)
        lab.works("data", "publish", "rare", str(sets), *STACK)
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


def test_the_chain_from_labels_to_the_verdict(lab: Lab) -> None:
    """Jobs read what is locked, and prove it; a label that is gone ends the job that misses it, and names the cause."""
    lab.works("up", *STACK)
    assert verdicts(lab) == {
        ("stage-rare", "data-staged"): "pass",
        ("segmentation-02x08", "data-set"): "pass",
        ("segment", "data-set"): "pass",
        ("segment", "data-slices"): "pass",
        ("segment-reduce", "data-slices"): "pass",
    }
    sets = lab.root / VOLUMES / "sets"
    lists = {path.name: path.read_text() for path in sets.glob(".hpc/lists/*.list")}
    trained = min(lists.values(), key=len)
    label = next(path for path in trained.split() if "/label/" in path)
    (sets / label).unlink()
    content = yaml.safe_load((lab.root / SETTINGS).read_text())
    content["config"]["hpc:platform"]["stages"][1]["workloads"][0]["run"] = 2
    (lab.root / SETTINGS).write_text(yaml.safe_dump(content))
    assert "hpc-data error kind=files-missing" in lab.fails("up", *STACK)
    text = lab.hpc("verify", *STACK).stdout
    assert "frames of the data set are there without their labels" in " ".join(text.split())
