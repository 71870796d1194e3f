"""docs/first-stack.md, walked from top to bottom as a new user would."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.shared import stack as stacks
from simulator import cluster
from tests.support import checkouts
from tests.support.clusters import require_tools
from tests.support.followed import blocks
from tests.support.recorded import ROOT

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "first-stack.md"


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """Give a checkout without anything that was built or run; the page's cluster goes in any case."""
    require_tools(stacks.read("h100-roce").spec())
    root = checkouts.copy(tmp_path)
    yield root
    home = root / ".sim" / "site"
    if home.exists():
        cluster.clean(home)


def walk(command: str, root: Path) -> str:
    """Run one block of the page, which must end well, and return what it printed."""
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=root,
        env=outside,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f"{command}\nended with {done.returncode}:\n{done.stdout}"
    assert "Traceback (most recent call last)" not in done.stdout, done.stdout
    return done.stdout


def test_the_page_leads_from_nothing_to_jobs_that_passed(checkout: Path) -> None:
    """Every block runs, in its order: a cluster, its settings, the decision, the update, and the verdict."""
    told = blocks(PAGE)
    assert {block.info for block in told} == {"sh"}, "a block that nobody runs"
    printed = {}
    for block in told:
        printed[block.text] = walk(block.text, checkout)
        if "./hpc init" in block.text:
            written = (checkout / "Pulumi.site.yaml").read_text()
            assert "# DECIDE: which machine these are" in written
            # No secret of the kubeconfig is in what is written.
            kubeconfig = (checkout / ".sim" / "site" / "kubeconfig").read_text()
            assert not [word for word in kubeconfig.split() if len(word) > 40 and word in written]
    (made,) = (text for command, text in printed.items() if "./hpc init" in command)
    assert "profile: dgx-h100" in made
    (verdict,) = (text for command, text in printed.items() if "./hpc verify" in command)
    assert "passed: " in verdict
    assert not (checkout / ".sim" / "site").exists()
    assert not (checkout / "Pulumi.site.yaml").exists()
