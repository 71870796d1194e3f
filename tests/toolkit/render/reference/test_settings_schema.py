"""docs/schemas/settings.json: what editors find in files of settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from core.hardware.profiles import PROFILES
from core.yaml import text as yaml_text
from stacks.loading.bases import SETTING
from stacks.loading.settings import file
from tests.support.recorded import OURS, ROOT
from tests.support.stack_settings import data
from toolkit.render.reference.settings import settings_schema

SCHEMA = jsonschema.Draft202012Validator(settings_schema())
MACHINES = [ROOT / "core" / "hardware" / "machines" / f"{name}.yaml" for name in PROFILES]
FILES = [*(file(stack, ROOT) for stack in OURS), *sorted((ROOT / "stacks" / "bases").glob("*.yaml"))]
FIRST = {name: stack for stack in reversed(OURS) for name in data(stack)}
"""The name of a setting -> the first stack that has it."""
Edit = Callable[[dict[str, Any]], object]


def in_file(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a stack's file with secrets of the engine."""
    return {"config": {SETTING: content, "hpc:scaleGui": {"a": {"secure": "v1:x"}}}, "encryptionsalt": "v1:y"}


def problems(content: object) -> list[str]:
    """Return what an editor finds."""
    return [error.message for error in SCHEMA.iter_errors(content)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_wrong_with_files_of_the_project(path: Path) -> None:
    """Every stack, example and base fits."""
    assert problems(yaml_text.read(path.read_text())) == []


@pytest.mark.parametrize("stack", OURS)
def test_nothing_is_wrong_with_all_settings_in_one_file(stack: str) -> None:
    """Every stack fits without a base, and each setting is checked then, in the first stack that has it."""
    content = data(stack)
    assert problems(in_file(content)) == []
    for name in {name for name in content if FIRST[name] == stack} - {"platform", "layer"}:
        assert problems(in_file(content | {name: object()})), name
        assert problems(in_file(content | {f"{name}_": content[name]})), name


@pytest.mark.parametrize("path", [*FILES, *MACHINES], ids=lambda path: path.name)
def test_files_name_their_schema(path: Path) -> None:
    """The first line of every stack, example, base and machine leads an editor to the schema."""
    said = path.read_text().partition("\n")[0].removeprefix("# yaml-language-server: $schema=")
    name = "machine" if path in MACHINES else "settings"
    assert (path.parent / said).resolve() == ROOT / "docs" / "schemas" / f"{name}.json"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda own: own.update(colour="blue"), id="unknown"),
        pytest.param(lambda own: own["gpu"].update(gdr_copy=True), id="unknown in a variant"),
        pytest.param(lambda own: own["tenants"][0].update(gpu_qouta=1), id="unknown in a list"),
        pytest.param(lambda own: own["stages"][0]["workloads"][0].update(pods=1), id="unknown in a job"),
        pytest.param(lambda own: own["fabric"].update(kind="token-ring"), id="no such variant"),
        pytest.param(lambda own: own["tenants"][0].update(gpu_quota="many"), id="no number"),
        pytest.param(lambda own: own["nodes"][0].update(name="dgx[1-]"), id="no name"),
    ],
)
def test_mistakes_are_found(edit: Edit) -> None:
    """A mistake is found in a file with all settings, over a base, and in a base."""
    content = data("prod")
    edit(content)
    assert problems(in_file(content))
    assert problems(in_file(content | {"base": "bases/site.yaml"}))
    assert problems(content)


@pytest.mark.parametrize(
    "edit",
    [
        lambda own: own.pop("fabric"),
        lambda own: own["fabric"].pop("kind"),
        lambda own: own["tenants"][0].pop("mcs"),
        lambda own: own["gpu"]["operator"].pop("channel"),
    ],
)
def test_what_is_missing_may_be_in_a_base(edit: Edit) -> None:
    """What is missing is found without a base, and only there."""
    content = data("prod")
    edit(content)
    assert problems(in_file(content))
    assert problems(in_file(content | {"base": "bases/site.yaml"})) == []
    assert problems(content) == []


def test_layers_have_their_own_settings() -> None:
    """A platform has no tenants, and tenants have no platform's settings."""
    platform, tenants = data("two-layers"), data("two-layers-tenants")
    assert problems(in_file(platform | {"tenants": tenants["tenants"]}))
    assert problems(in_file(tenants | {"fabric": platform["fabric"]}))
    assert problems(in_file({key: tenants[key] for key in tenants if key != "tenants"}))


def test_an_operator_needs_no_more_than_its_name() -> None:
    """What the program completes may be left out."""
    assert problems(in_file(data("prod") | {"operators": {"cert_manager": {}}})) == []
    assert problems(in_file(data("prod") | {"operators": {"cert_manager": {"chanel": "stable"}}}))
