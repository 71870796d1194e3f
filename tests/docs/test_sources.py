"""Every id of a source that is cited is explained."""

import re
from functools import cache
from itertools import chain

from core.yaml import text as yaml_text
from tests.support.recorded import ROOT
from toolkit.render.reference import sources

_ID = re.compile(r"(?<![\w-])(?:[RSNDBEP]-\d+(?:\.\d+)*(?:-\d+)?[a-z]?|platform-facts\s+\d+(?:\.\d+)?)(?![\w-])")
_FOLDERS = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")]
_OWN = {"sources.md", "sources.yaml"}


@cache
def explained() -> dict[str, str]:
    """Return the lines of the page by id."""
    return {name: text for document in sources.documents() for name, text in document.rows.items()}


@cache
def cited() -> dict[str, str]:
    """Return the ids that are cited, each with a file; of parts of a row (E-13a) that of the row."""
    found: dict[str, str] = {}
    files = chain(ROOT.glob("*.*"), *(folder.rglob("*.*") for folder in _FOLDERS))
    for file in sorted(file for file in files if file.suffix in {".py", ".md", ".yaml"} and file.name not in _OWN):
        for name in map(_spaced, _ID.findall(file.read_text())):
            row = name if name in explained() else name.rstrip("abcdefghijklmnopqrstuvwxyz")
            found.setdefault(row, str(file.relative_to(ROOT)))
    return found


def _spaced(name: str) -> str:
    return " ".join(name.split())


def test_every_cited_id_is_explained() -> None:
    """An id that a reader meets anywhere in the repository has a line in docs/coverage/sources.md."""
    assert {name: file for name, file in cited().items() if name not in explained()} == {}, "add them to sources.yaml"


def test_every_explained_id_is_cited() -> None:
    """The page has no line that nothing refers to."""
    assert sorted(explained().keys() - cited().keys()) == []


def test_no_id_is_explained_twice() -> None:
    """An id that the coverage data explains is not explained in sources.yaml as well."""
    own = chain.from_iterable(one["rows"] for one in yaml_text.read(sources.DATA.read_text()).values())
    assert sorted(set(own) & sources.from_coverage().keys()) == []


def test_an_id_is_found_in_prose() -> None:
    """Ids are recognised beside punctuation and across lines, and product names are not taken for them."""
    assert _ID.findall("(R-3.4.3-2, E-19a; N-5.6a) P-4.") == ["R-3.4.3-2", "E-19a", "N-5.6a", "P-4"]
    assert _ID.findall("(platform-facts\n1.9)") == ["platform-facts\n1.9"]
    assert _ID.findall("DGX-1, UTF-8, HCA-1, REDP-5610") == []
