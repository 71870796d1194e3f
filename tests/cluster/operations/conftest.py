"""The site that the tests of this folder share: docs/guide/operations.md is followed there, with planted secrets."""

from collections.abc import Iterator

import pytest

from tests.support import planted, planted_site, planted_story
from tests.support.clusters import FULL, require_tools
from tests.support.planted_site import Site
from toolkit.simulator import cluster


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory, object_store: str) -> Iterator[Site]:
    """Give what every command has left; of the page, the removal of the environment is still to be followed."""
    require_tools(FULL)
    tools = tmp_path_factory.mktemp("tools")
    made = planted_site.made(tmp_path_factory.mktemp("secrets"), tools, object_store)
    try:
        with planted.command_lines() as made.command_lines:
            planted_story.run_everything(made)
        yield made
    finally:
        if made.home.exists():
            cluster.clean(made.home)
