"""Words of a downloaded module are replaced in a copy of it, for one build."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolkit.engine.errors import SimulatorError
from toolkit.engine.tools import go
from toolkit.engine.tools.build import replaced_sources
from toolkit.engine.tools.records import Replacement
from toolkit.engine.tools.table import MODULE_OF

WORDS = Replacement("example.com/old", "pkg/a.go", "Gone", '"gone"')


@pytest.fixture
def downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a downloaded module, in which nothing can be written."""
    folder = tmp_path / "old@v1"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "a.go").write_text("x := Gone")
    (folder / "pkg" / "a.go").chmod(0o444)

    def lines(*_: object) -> Iterator[str]:
        yield str(folder)

    monkeypatch.setattr(go, "lines", lines)
    return folder


def test_a_build_reads_the_replaced_words(downloaded: Path) -> None:
    """The build gets a go.mod that leads to a copy with the new words; the downloaded module stays as it is."""
    module = replace(MODULE_OF["etcd"][0], replacements=(WORDS,))
    with replaced_sources(module, go.Running()) as (option, path):
        assert option == "-modfile"
        requirements = Path(path)
        assert requirements.read_text().startswith((module.folder / "go.mod").read_text())
        copy = requirements.read_text().split()[-1]
        assert Path(copy, "pkg", "a.go").read_text() == 'x := "gone"'
        assert requirements.with_name("go.sum").read_bytes() == (module.folder / "go.sum").read_bytes()
    assert not requirements.exists()
    assert (downloaded / "pkg" / "a.go").read_text() == "x := Gone"


def test_words_that_are_not_there_are_an_error(downloaded: Path) -> None:
    """A source without the words to be replaced is named."""
    (downloaded / "pkg" / "a.go").chmod(0o644)
    (downloaded / "pkg" / "a.go").write_text("x := 1")
    module = replace(MODULE_OF["etcd"][0], replacements=(WORDS,))
    with (
        pytest.raises(SimulatorError, match=r"pkg/a\.go of example\.com/old has no Gone"),
        replaced_sources(module, go.Running()),
    ):
        pass


def test_a_replacement_decides_the_folder_in_the_cache() -> None:
    """A tool whose replacements change is another one; most have none, and are built from what is published."""
    kwok = MODULE_OF["kwok"][0]
    assert replace(kwok, replacements=()).cache_name() != kwok.cache_name()
    with replaced_sources(replace(kwok, replacements=()), go.Running()) as arguments:
        assert arguments == []
