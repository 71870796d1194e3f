"""docs/guide/operations.md, followed from top to bottom on a workstation, with a bucket and a cluster.

The stack takes the cluster for a real one. What stands in place of what the page says, and what happens in between, is
in tests/support: planted_site.py and planted_story.py.
"""

import pytest

from tests.support.planted_site import Site
from tests.support.planted_story import LAST, PAGE_BLOCKS, follow

pytestmark = pytest.mark.cluster


def test_the_page_can_be_followed(site: Site) -> None:
    """Every block of the runbook runs, in its order; the last one leaves no cluster."""
    assert {block.info.partition(" ")[0] for block in PAGE_BLOCKS} == {"sh", "yaml"}, "a block that nobody runs"
    assert PAGE_BLOCKS[-1].heading == LAST
    removal = [block for block in PAGE_BLOCKS if block.heading == LAST]
    assert site.followed == len(PAGE_BLOCKS) - len(removal)
    for block in removal:
        follow(site, block)
    assert not site.home.exists()
