"""The table of cases: files of this folder's `cases/`, each a list of cases as data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.yaml import text as yaml_text

FOLDER = Path(__file__).with_name("cases")
NAMESPACE = "<ns>"
"""Stands for the case's own namespace, which is called as the case."""


class ProviderChoice(BaseModel):
    """How the case's provider is started; cases with the same choice share a process, unless it is their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    own: bool = Field(default=False, description="a process of its own, because what it knows of kinds matters")


class Other(BaseModel):
    """A further resource of a case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    inputs: dict[str, Any]


class Case(BaseModel):
    """One case: a resource, its inputs, and steps: one operation with its argument, and `of`, `timeout`, ... each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])$")
    about: str
    file: str
    type: str = "kubernetes:core/v1:ConfigMap"
    inputs: dict[str, Any] = Field(default_factory=dict)
    others: dict[str, Other] = Field(default_factory=dict)
    provider: ProviderChoice = ProviderChoice()
    slow: bool = Field(default=False, description="takes half a minute and more, and so starts first")
    typed: bool = Field(default=True, description="add apiVersion and kind to the inputs, as the SDKs do")
    steps: tuple[dict[str, Any], ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: dict[str, Any]) -> dict[str, Any]:
        filled: dict[str, Any] = replaced(values, str(values["name"]))
        if filled.get("typed", True):
            default = cls.model_fields["type"].default
            filled["inputs"] = {**identity_of(filled.get("type", default)), **filled.get("inputs", {})}
            for other in filled.get("others", {}).values():
                other["inputs"] = {**identity_of(other["type"]), **other["inputs"]}
        filled["steps"] = tuple({step: None} if isinstance(step, str) else step for step in filled["steps"])
        return filled


def identity_of(token: str) -> dict[str, str]:
    """Return apiVersion and kind as the SDK's class for a token gives them."""
    _, module, kind = token.split(":")
    group, _, version = module.rpartition("/")
    return {
        "apiVersion": version if group == "core" else f"{group}/{version}",
        "kind": kind.removesuffix("Patch") if kind != "Patch" else kind,
    }


def replaced(value: Any, namespace: str) -> Any:
    """Return the value with the case's namespace where its placeholder stands."""
    match value:
        case str():
            return value.replace(NAMESPACE, namespace)
        case Mapping():
            return {replaced(key, namespace): replaced(item, namespace) for key, item in value.items()}
        case list() | tuple():
            return [replaced(item, namespace) for item in value]
        case _:
            return value


def load(folder: Path = FOLDER) -> tuple[Case, ...]:
    """Return all cases, by file and in order; a name may stand once only."""
    found: dict[str, Case] = {}
    for path in sorted(folder.glob("*.yaml")):
        content = yaml_text.read(path.read_text())
        defaults = content.get("defaults", {})
        for item in content["cases"]:
            case = Case(file=path.stem, **{**defaults, **item})
            assert case.name not in found, f"two cases are called {case.name}: {found[case.name].file}, {case.file}"
            found[case.name] = case
    return tuple(found.values())
