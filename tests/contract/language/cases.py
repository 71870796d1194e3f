"""The table of cases: programs, what is done with them, and what the official language host made of each."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from tests.contract.records import json_text

_CASES = Path(__file__).with_name("cases.yaml")
RECORD = Path(__file__).with_name("recorded.json")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(_Model):
    """A project and one command of the engine in it."""

    main: str | None = Field(default=None, description="text of program/__main__.py")
    files: dict[str, str] = Field(default={}, description="more files by path; BARE is an interpreter without the SDK")
    pack: str | None = Field(default=None, description="body of a stack policy of a pack that the command gets")
    pack_program: str = Field(default="", description="a whole policy pack that the command gets")
    command: tuple[str, ...] = Field(default=("preview",), description="of pulumi")
    interrupt: str = Field(default="", description="what the program prints before the engine gets SIGINT")
    config: dict[str, JsonValue] = Field(default={}, description="of the stack")
    options: dict[str, str] = Field(default={}, description="of the runtime, beside the tests' own virtualenv")
    project: dict[str, str] = Field(default={}, description="more of Pulumi.yaml")


class Outcome(_Model):
    """What came of a command, in a form that does not depend on the machine or the run."""

    failed: bool = Field(description="whether the exit status was other than 0")
    messages: tuple[str, ...] = Field(description="the engine's diagnostics: severity and text; lines of output joined")
    policies: tuple[str, ...] = Field(default=(), description="violations: level, policy and text")
    outputs: dict[str, JsonValue] = Field(default={}, description="of the stack, after an update")
    printed: JsonValue = Field(default=None, description="of commands without events: what they print about the host")


class Record(_Model):
    """Outcomes by name of case, and which host and engine they are of."""

    host: str
    engine: str
    outcomes: dict[str, Outcome]


@cache
def cases() -> dict[str, Case]:
    """Return the table."""
    found: dict[str, Any] = yaml.safe_load(_CASES.read_text())
    return {name: Case.model_validate(case) for name, case in found.items()}


@cache
def record() -> Record:
    """Return what the official host did."""
    return Record.model_validate_json(RECORD.read_text())


def write(found: Record) -> None:
    """Write a new record."""
    RECORD.write_text(json_text(found.model_dump(mode="json", exclude_defaults=True)) + "\n")
