"""The lab that the tests of this folder share: stack dev, brought up once by `./hpc up`."""

from collections.abc import Iterator

import pytest

from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give the lab of the Redpaper, up and verified."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("lab")) as made:
        made.works("up")
        yield made
