"""The data of the coverage pages: every row of the source documents, with what does it and how that is proved."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from components.base.model import Model
from core.yaml import text as yaml_text
from toolkit.evidence.criteria import COMPARISONS, CRITERIA
from toolkit.render.reference import markdown, tables

FOLDER = tables.ROOT / "docs" / "coverage"
Verdict = Literal["done", "partly", "site-file", "not", "out"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_REQUIRED: Mapping[Verdict, tuple[str, ...]] = {
    "done": ("by", "proof"),
    "partly": ("by", "proof", "missing"),
    "site-file": ("by", "proof"),
    "not": ("missing", "why"),
    "out": ("why",),
}
"""Fields without which a verdict has no meaning."""
_REFUSED: Mapping[Verdict, tuple[str, ...]] = {
    "done": ("missing", "why"),
    "partly": ("why",),
    "site-file": ("why",),
    "not": ("by", "proof"),
    "out": ("by", "proof", "missing"),
}
"""Fields that contradict a verdict."""


class Document(Model):
    """A source document, or its faults: what the page is called, and the beginning of its rows' ids."""

    name: str
    title: str
    letter: str


DOCUMENTS = (
    Document(name="redpaper", title="The Redpaper", letter="R"),
    Document(name="supermicro", title="The Supermicro reference", letter="S"),
    Document(name="nvaie", title="NVIDIA AI Enterprise", letter="N"),
    Document(name="superpod", title="The SuperPOD architecture", letter="D"),
    Document(name="robotic-drive", title="Robotic Drive", letter="B"),
    Document(name="faults", title="Faults of the documents", letter="E"),
)


class Entry(Model):
    """A row: what it asks for, and how far that is there."""

    asks: str = Field(min_length=1, description="in our own words")
    verdict: Verdict
    by: tuple[str, ...] = Field(default=(), description="files that do it, from the root")
    criteria: tuple[str, ...] = Field(
        default=(), description="criteria of `./hpc verify` that judge it, beside those whose own source is the row"
    )
    rules: tuple[str, ...] = Field(default=(), description="policies that hold it")
    proof: tuple[str, ...] = Field(
        default=(),
        description="files of tests that would fail without it, from the root, or one of their tests, file::test",
    )
    missing: str = Field(default="", description="what of it is not there")
    why: str = Field(default="", description="why nothing does it, or can")
    note: str = Field(default="", description="what a reader has to know of how it is done")

    @model_validator(mode="after")
    def _require_verdict_fields(self) -> Self:
        missing = [field for field in _REQUIRED[self.verdict] if not getattr(self, field)]
        refused = [field for field in _REFUSED[self.verdict] if getattr(self, field)]
        if missing:
            raise ValueError(f"verdict {self.verdict} without {', '.join(missing)}: add that, or give another verdict")
        if refused:
            raise ValueError(f"verdict {self.verdict} with {', '.join(refused)}: remove that, or give another verdict")
        return self


def proof_file(proof: str) -> str:
    """Return the file of a proof, which may name a test in it."""
    return proof.partition("::")[0]


Sections = Mapping[str, Mapping[str, Entry]]


@cache
def sections(document: str) -> Sections:
    """Return the rows of a document's file by title and id; raises ValueError naming file and row."""
    file = FOLDER / f"{document}.yaml"
    return {
        title: {name: _entry(f"{file.name}: {name}", name, fields) for name, fields in rows.items()}
        for title, rows in yaml_text.read(file.read_text()).items()
    }


def rows() -> Iterator[tuple[str, Entry]]:
    """Yield all rows of all documents with their ids."""
    for document in DOCUMENTS:
        for section in sections(document.name).values():
            yield from section.items()


def _entry(where: str, name: str, fields: Mapping[str, object]) -> Entry:
    try:
        entry = Entry.model_validate(fields)
    except ValueError as error:
        raise ValueError(f"docs/coverage/{where}: {error}") from error
    judged = dict.fromkeys((*entry.criteria, *criteria_of(name)))
    return entry.model_copy(update={"criteria": tuple(judged)})


@cache
def _criteria_by_row() -> Mapping[str, Sequence[str]]:
    criteria_by_row: dict[str, list[str]] = {}
    for criterion in (*CRITERIA, *COMPARISONS):
        for row in markdown.sources(criterion.source):
            criteria_by_row.setdefault(row, []).append(criterion.name)
    return criteria_by_row


def criteria_of(name: str) -> Sequence[str]:
    """Return the criteria whose own source is the row."""
    return _criteria_by_row().get(name, ())
