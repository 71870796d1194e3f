"""Catalogues of data sets, opened as the settings name them."""

from cli.data.stats import require_current
from cli.shared.errors import Problem
from cli.shared.paths import ROOT
from datasets.catalogue import Catalogue
from datasets.source import AnySource, SqliteSource
from datasets.sqlite_reader import SqliteCatalogue


def open_source(source: AnySource, *, allow_stale: bool = False) -> Catalogue:
    """Return the catalogue; raise CatalogueError or Problem where it cannot be read, or is older than its files.

    `allow_stale`: it may be older.
    """
    if not isinstance(source, SqliteSource):
        raise Problem(f"source: kind {source.kind} cannot be asked yet", "Use a catalogue of kind sqlite.")
    opened = SqliteCatalogue(ROOT / source.path)
    if not allow_stale:
        require_current(opened, ROOT / source.path)
    return opened
