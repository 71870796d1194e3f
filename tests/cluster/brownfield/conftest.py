"""The checkout in which a test of this folder sets up a cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.brownfield.kit import HOME, Used
from tests.support import checkouts
from tests.support.clusters import FULL, require_tools
from toolkit.simulator import cluster


@pytest.fixture
def used(tmp_path: Path) -> Iterator[Used]:
    """Give a checkout; its cluster goes in any case."""
    require_tools(FULL)
    made = Used(checkouts.copy(tmp_path))
    yield made
    if (made.checkout / HOME).exists():
        cluster.clean(made.checkout / HOME)
