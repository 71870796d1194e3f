"""Catalogues of data sets, opened as the settings name them."""

import os

from cli.data.discover import Discover
from cli.data.stats import require_current
from cli.shared.errors import Problem
from cli.shared.paths import ROOT
from datasets.catalogue import Catalogue
from datasets.source import AnySource, DiscoverSource
from datasets.sqlite_reader import SqliteCatalogue

USER, PASSWORD = "HPC_DISCOVER_USER", "HPC_DISCOVER_PASSWORD"


def open_source(source: AnySource, *, allow_stale: bool = False) -> Catalogue:
    """Return the catalogue; raise CatalogueError or Problem where it cannot be read, or is older than its files.

    `allow_stale`: it may be older. Spectrum Discover follows its sources itself, and its files are not here to compare.
    """
    if isinstance(source, DiscoverSource):
        return _discover(source)
    opened = SqliteCatalogue(ROOT / source.path)
    if not allow_stale:
        require_current(opened, ROOT / source.path)
    return opened


def _discover(source: DiscoverSource) -> Discover:
    user, password = (os.environ.get(name, "") for name in (USER, PASSWORD))
    if not (user and password):
        raise Problem(
            f"the account of {source.host} is not given",
            f"Set {USER} and {PASSWORD}; neither is written anywhere.",
        )
    ca = ROOT / source.ca if source.ca else None
    # JSON has names with commas and newlines as they are.
    return Discover(source.host, user, password, ca, as_json=True)
