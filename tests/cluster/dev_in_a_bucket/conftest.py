"""The lab that the tests of this folder share. They build on each other in the order of the files, and of each file."""

from collections.abc import Iterator

import pytest

from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a lab with its state in the simulated object store, just up: a comment on jobs depends on what they became.

    At the end nothing of it is left.
    """
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("bucket")) as made:
        made.works("up", "--backend", "s3")
        yield made
