"""Ways around the policies, and what stops each: the data of docs/reference/policies/ways-around.md.

Each way has a fixture: one of a rule (`gpu-limit/denied/...`), or one of `docs/reference/policies/ways`, whose
manifests no rule denies by itself or which are opened first (a List, a Template).
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, TypeAdapter

from core import wording
from core.model import Model
from core.yaml import text as yaml_text
from policies.rule import FIXTURES

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference" / "policies"
OWN = "ways"
"""The folder of fixtures that are not rule's."""


class Way(Model):
    """One way: `rules`, `scc` and `api` are what stops it, and where there are none, nothing here does."""

    way: str = Field(description="who does what")
    fixture: str = Field(description="manifests that try it: <rule>/denied/<name>, or ways/<name>")
    rules: tuple[str, ...] = Field(default=(), description="rules that deny it")
    scc: bool = Field(default=False, description="no SCC that an ordinary account may use admits its pods")
    api: str = Field(default="", description="part of the API server's refusal")
    note: str = Field(default="", description="what else to know; what stops it elsewhere")

    @property
    def file(self) -> Path:
        """Where its fixture is."""
        folder = FOLDER if self.fixture.startswith(f"{OWN}/") else FIXTURES
        return folder / f"{self.fixture}.yaml"

    @property
    def stopped(self) -> bool:
        """Whether anything here stops it."""
        return bool(self.rules or self.scc or self.api)

    def manifests(self) -> list[Any]:
        """Return the manifests that try it."""
        content = yaml_text.read(self.file.read_text())
        objects: list[Any] = content.get("objects") or [content["object"]]
        return objects

    def configuration(self) -> dict[str, Any]:
        """Return the configuration that a stack gives the rule of its fixture."""
        parameters = yaml_text.read(self.file.read_text()).get("parameters")
        return {self.file.parents[1].name: parameters} if parameters else {}


_Data = TypeAdapter(dict[str, tuple[Way, ...]])


def ways() -> Mapping[str, tuple[Way, ...]]:
    """Return all ways by their kind; raise ValidationError for data of another form."""
    return _Data.validate_python(yaml_text.read((FOLDER / "ways-around.yaml").read_text()))


def table() -> str:
    """Return the generated part of the page."""
    return "\n".join(line for title, group in ways().items() for line in _section(title, group))


def _section(title: str, group: tuple[Way, ...]) -> Iterator[str]:
    links = (f"[{way.file.stem}]({os.path.relpath(way.file, FOLDER)})" for way in group)
    rows = [(_cell(way.way), _cell(_stops(way)), link) for way, link in zip(group, links, strict=True)]
    yield from (f"## {title}", "", wording.table(("way", "what stops it", "fixture"), rows), "")


def _stops(way: Way) -> str:
    barriers = [f"rule [{rule}]({rule}.md)" for rule in way.rules]
    barriers += ["SCC: none that an ordinary account may use admits it"] if way.scc else []
    barriers += [f"API server: `{way.api.replace('`', '')}`"] if way.api else []
    stops = ", ".join(barriers) if barriers else "**nothing here**"
    return f"{stops}. {_sentence(way.note)}" if way.note else stops


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cell(text: str) -> str:
    return _sentence(text).replace("|", "\\|").replace("\n", " ").replace("<", "\\<")
