"""Catalogues, opened as the settings or a command line name them."""

import os
from pathlib import Path

from core.datasets.catalogue import Catalogue
from core.datasets.choice import AnySource, DiscoverSource, SqliteSource
from toolkit.cli.data.discover import Discover
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.datasets.frames import list_files
from toolkit.datasets.indexing import changes
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

USER, PASSWORD = "HPC_DISCOVER_USER", "HPC_DISCOVER_PASSWORD"
PARQUET = ".parquet"


def open_source(source: AnySource, stack: Stack | None = None, *, allow_stale: bool = False) -> Catalogue:
    """Return the catalogue; raise CatalogueError or Problem where it cannot be read, or is older than its files.

    `allow_stale`: it may be older. Spectrum Discover follows its sources itself, and its files are not here to compare;
    nor are those of Parquet files. Where the cluster of `stack` is simulated, so is the console.
    """
    if isinstance(source, DiscoverSource):
        return (stack and _simulated(stack)) or _discover(source)
    if isinstance(source, SqliteSource):
        return open_sqlite(ROOT / source.path, allow_stale=allow_stale)
    return open_parquet(ROOT / source.path)


def open_sqlite(path: Path, *, allow_stale: bool = False) -> SqliteCatalogue:
    """Return the catalogue of a SQLite file, likewise."""
    opened = SqliteCatalogue(path)
    if not allow_stale:
        _require_current(opened, path)
    return opened


def open_parquet(path: Path) -> Catalogue:
    """Return the catalogue of a Parquet file, or of a folder of them; raise CatalogueError."""
    from toolkit.datasets.parquet_reader import ParquetCatalogue  # noqa: PLC0415 - loads DuckDB, a fifth of a second

    return ParquetCatalogue(path)


def _require_current(source: SqliteCatalogue, name: Path) -> None:
    """Raise Problem where files of the indexed folder, if that is on this machine, differ from the catalogue."""
    folder = source.folder()
    if not folder.is_dir():
        return
    if differences := changes(source, source.card(), list_files(folder)):
        raise Problem(
            f"{name} is older than the files of {folder}: {differences}",
            f"Run ./hpc data index {folder} -o {name} again, or add --allow-stale.",
        )


def _simulated(stack: Stack) -> Discover | None:
    """Return the console of a simulated cluster; None for a real one, and for one without."""
    if not stack.simulated:
        return None
    from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

    server = cluster.server(
        stack, lambda cluster_state: cluster_state.discover, lambda layout: layout.catalogue_account
    )
    return server and Discover(server.host, server.account.user, server.account.password, server.ca)


def account_of(host: str, user: str, password: str) -> tuple[str, str]:
    """Return name and password of an account from two variables; raise Problem where one is not set."""
    values = os.environ.get(user, ""), os.environ.get(password, "")
    if not all(values):
        raise Problem(f"the account of {host} is not given", f"Set {user} and {password}; neither is written anywhere.")
    return values


def _discover(source: DiscoverSource) -> Discover:
    user, password = account_of(source.host, USER, PASSWORD)
    ca = ROOT / source.ca if source.ca else None
    return Discover(source.host, user, password, ca)
