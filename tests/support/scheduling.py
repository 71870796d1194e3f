"""Which worker runs which tests in the layers that are divided by files, and in what order."""

import re
from collections import OrderedDict
from pathlib import Path, PurePosixPath

import pytest
from xdist.scheduler import LoadFileScheduling

STACKS = "tests/cluster/test_stacks.py"
APART = frozenset({STACKS})
"""Files whose tests share nothing: each is scheduled by itself."""
LAB = "the lab of tests/cluster/conftest.py"
TOGETHER = {
    "tests/cluster/test_broken_platform.py": LAB,
    "tests/cluster/test_redpaper.py": LAB,
    "tests/cluster/test_reviews.py": LAB,
}
"""Files that share a cluster without a folder of their own; each worker that had one of them would start it again."""
LONGEST = (
    LAB,
    f"{STACKS}::test_stack_runs_from_one_command[superpod-a100]",
    "tests/cluster/operations",
    "tests/cluster/brownfield",
    "tests/cluster/test_upgrade.py",
    "tests/cluster/test_upgrade_today.py",
    "tests/cluster/test_layers.py",
    f"{STACKS}::test_stack_runs_from_one_command[prod]",
    "tests/cluster/test_adoption.py",
    "tests/cluster/dev_in_a_bucket",
    "tests/cluster/test_data_set.py",
    "tests/contract/language/test_language_host.py",
    "tests/policies/test_pack.py",
    "tests/engine/test_lifecycle.py",
    "tests/engine/test_state_keeping.py",
    "tests/contract/provider/test_provider.py",
    "tests/toolkit/site/groups/hosts/test_ansible.py",
    "tests/stacks/test_fuzz.py",
)
"""Begins with what takes longest, so that no worker is left alone with it at the end. The rest: most tests first."""
_LAYERS = re.compile(r"(?:engine|cluster|browser)(?: or (?:engine|cluster|browser))*")


def scope(nodeid: str) -> str:
    """Return what one worker takes as a whole: a test, a file, or files that share a cluster."""
    name = nodeid.partition("::")[0]
    file = PurePosixPath(name)
    if name in APART:
        return nodeid
    if name in TOGETHER:
        return TOGETHER[name]
    return str(file.parent if file.parent.parent.name == "cluster" else file)


class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Sends to one worker what shares a cluster, and starts with what takes longest.

    Not `--dist loadgroup`: pytest-xdist 3.8 marks groups in a field that pytest 9.2 no longer reads.
    """

    workqueue: OrderedDict[str, dict[str, bool]]

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)

    def _assign_work_unit(self, node: object) -> None:
        longest = next((name for name in LONGEST if name in self.workqueue), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)


def needless(file: Path, chosen: str) -> bool:
    """Return whether a file of tests has none of the layers that `-m` chooses: importing all takes ten seconds.

    A layer is a mark in the file itself; what has none is of the unit layer.
    """
    if not _LAYERS.fullmatch(chosen) or not file.name.startswith("test_"):
        return False
    text = file.read_text()
    return not any(f"mark.{layer}" in text for layer in chosen.split(" or "))


def by_cluster(config: pytest.Config, log: object) -> Scheduling | None:
    """Return the scheduling for a run that is divided by files."""
    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
