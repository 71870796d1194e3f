"""Catalogues as the settings name them."""

from pathlib import Path
from typing import Any

import pytest

from core.datasets.catalogue import Catalogue, CatalogueError
from core.datasets.choice import DiscoverSource, ParquetSource
from tests.support.catalogues import generated_catalogue
from tests.support.commands import finished
from toolkit.cli.data import sources, stats
from toolkit.cli.data.discover import Discover
from toolkit.cli.shared.errors import Problem
from toolkit.datasets import generated

THERE = DiscoverSource(kind="discover", host="discover.example.com")


def test_the_account_is_in_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its variables the account is asked for; with them the console is one that verifies certificates."""
    monkeypatch.delenv(sources.USER, raising=False)
    monkeypatch.setenv(sources.PASSWORD, "secret-word")
    with pytest.raises(Problem, match=r"account of discover\.example\.com is not given") as error:
        sources.open_source(THERE)
    assert sources.USER in str(error.value)
    assert "secret-word" not in str(error.value)
    monkeypatch.setenv(sources.USER, "reader")
    opened = sources.open_source(THERE)
    assert isinstance(opened, Discover)
    assert (opened.host, opened.ca) == ("discover.example.com", None)
    assert "secret-word" not in repr(opened)


def test_the_certificate_is_a_file_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CA's certificate that is not there is named before a request is sent."""
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    for name in (sources.USER, sources.PASSWORD):
        monkeypatch.setenv(name, "x")
    with pytest.raises(CatalogueError, match=r"certs/ca\.pem does not exist"):
        sources.open_source(THERE.model_copy(update={"ca": "certs/ca.pem"}))


@pytest.mark.parametrize("name", ["a.parquet", "folder"])
def test_parquet_files_are_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The settings name a Parquet file or a folder of them, from the project's folder."""
    duckdb: Any = pytest.importorskip("duckdb", reason="make venv installs it")
    file = tmp_path / name if name.endswith(".parquet") else tmp_path / name / "part.parquet"
    file.parent.mkdir(exist_ok=True)
    duckdb.connect().execute(f"COPY (select 'a.png' as filename, 7 as car) TO '{file}' (FORMAT parquet)")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    opened = sources.open_source(ParquetSource(kind="parquet", path=name))
    assert opened.ask("select filename, car from metaocean_view") == [("a.png", "7")]
    with pytest.raises(Problem, match=r"(?s)its card in it.*--card"):
        finished(stats.command, str(tmp_path / name))
    with pytest.raises(CatalogueError, match="t_bicycle"):
        finished(stats.command, str(tmp_path / name), "--card", "a2d2")


def test_stats_of_a_console(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`stats --discover` asks a console by the account of the variables, with the card that is named."""
    catalogue = generated_catalogue(tmp_path / "c.db", generated.LEAST)
    asked: list[DiscoverSource] = []

    def opened(source: DiscoverSource) -> Catalogue:
        asked.append(source)
        return catalogue

    monkeypatch.setattr(sources, "open_source", opened)
    status, output = finished(stats.command, "--discover", "console:8443", "--card", "a2d2")
    assert (status, [each.host for each in asked], "RD normal street" in output) == (0, ["console:8443"], True)
    with pytest.raises(Problem, match=r"(?s)'https://x' is not a host.*Write its name"):
        finished(stats.command, "--discover", "https://x", "--card", "a2d2")
