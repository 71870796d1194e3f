"""Catalogues as the settings name them."""

from pathlib import Path

import pytest

from cli.data import sources
from cli.data.discover import Discover
from cli.shared.errors import Problem
from datasets.catalogue import CatalogueError
from datasets.source import DiscoverSource

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
    """A CA's certificate that is not there is named before anybody is asked."""
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    for name in (sources.USER, sources.PASSWORD):
        monkeypatch.setenv(name, "x")
    with pytest.raises(CatalogueError, match=r"certs/ca\.pem: is no file"):
        sources.open_source(THERE.model_copy(update={"ca": "certs/ca.pem"}))
