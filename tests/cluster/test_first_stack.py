"""docs/guide/first-stack.md, walked from top to bottom as a new user would."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import checkouts
from tests.support.clusters import require_tools
from tests.support.page_blocks import blocks, walked
from tests.support.recorded import ROOT
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.simulator import cluster

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "guide" / "first-stack.md"


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """Give a checkout without anything that was built or run; the page's cluster goes in any case."""
    require_tools(simulated_spec.of(stacks.read("h100-roce")))
    root = checkouts.copy(tmp_path)
    yield root
    home = root / ".sim" / "site"
    if home.exists():
        cluster.clean(home)


def test_the_page_leads_from_nothing_to_jobs_that_passed(checkout: Path) -> None:
    """Every block runs, in its order: a cluster, its settings, the decision, the update, and the verdict."""
    steps = blocks(PAGE)
    assert {block.info for block in steps} == {"sh"}, "a block that nobody runs"
    printed = {}
    for block in steps:
        printed[block.text] = walked(block.text, checkout)
        if "./hpc init" in block.text:
            written = (checkout / "Pulumi.site.yaml").read_text()
            assert "# DECIDE: which machine these are" in written
            # No secret of the kubeconfig is in what is written.
            kubeconfig = (checkout / ".sim" / "site" / "kubeconfig").read_text()
            assert not [word for word in kubeconfig.split() if len(word) > 40 and word in written]
    (made,) = (text for command, text in printed.items() if "./hpc init" in command)
    assert "machine: dgx-h100" in made
    (verdict,) = (text for command, text in printed.items() if "./hpc verify" in command)
    assert "passed: " in verdict
    assert not (checkout / ".sim" / "site").exists()
    assert not (checkout / "Pulumi.site.yaml").exists()
