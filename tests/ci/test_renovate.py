"""Renovate's settings: what they cover of this repository, by the rules by which Renovate reads its files."""

import json
import re
from typing import Any

import pytest

from tests.support.recorded import ROOT
from toolkit.engine.tools.records import GO_MODULES

SETTINGS: dict[str, Any] = json.loads((ROOT / ".github/renovate.json").read_text())
TABLE = ROOT / "toolkit/engine/tools/versions.py"
LOCKS = {"requirements.txt": "requirements/base.in"} | {
    f"requirements/{path.name}": f"requirements/{path.stem}.in" for path in ROOT.glob("requirements/*.txt")
}
HELD = {"MPI_OPERATOR", "TRAINER", "GPU_OPERATOR"}
"""Versions that no newer one replaces: of OpenShift 4.4's generation, and of the Kueue beside it."""


def test_every_manager_of_the_repository_is_enabled() -> None:
    """Actions, GitLab's images, requirements, Go modules and the table of tools are updated; images by digest."""
    managers = {"github-actions", "gitlabci", "pip-compile", "gomod", "custom.regex"}
    assert {*SETTINGS["enabledManagers"]} == managers
    assert {"docker:pinDigests", "helpers:pinGitHubActionDigestsToSemver"} <= {*SETTINGS["extends"]}
    assert "gomodTidy" in SETTINGS["postUpdateOptions"]


@pytest.mark.parametrize("name", LOCKS)
def test_requirements_are_compiled_as_renovate_reads_them(name: str) -> None:
    """Each compiled file is matched, and its first lines have the command in the form that Renovate repeats."""
    patterns = [pattern.strip("/") for pattern in SETTINGS["pip-compile"]["managerFilePatterns"]]
    assert any(re.search(pattern, name) for pattern in patterns)
    command = (ROOT / name).read_text().splitlines()[1]
    source = LOCKS[name]
    assert (ROOT / source).is_file()
    options = "--python-version=3.11 --universal --generate-hashes"
    assert command == f"#    uv pip compile {options} {source} --output-file={name}"


@pytest.mark.parametrize("folder", sorted(path.name for path in GO_MODULES.iterdir()))
def test_modules_can_be_tidied(folder: str) -> None:
    """Each go.mod requires its modules by a tool or a Go file of its own: `go mod tidy` leaves none out."""
    assert any(rule.get("matchFileNames") == ["toolkit/engine/tools/**"] for rule in SETTINGS["packageRules"])
    module = GO_MODULES / folder
    assert re.search(r"^tool ", (module / "go.mod").read_text(), re.M) or [*module.glob("*.go")]


def test_versions_in_the_table_are_found() -> None:
    """Each version in the table is read by one pattern, which names a module of some go.mod, or is held on purpose."""
    text, modules = TABLE.read_text(), "\n".join(path.read_text() for path in GO_MODULES.glob("*/go.mod"))
    read: list[str] = []
    for manager in SETTINGS["customManagers"]:
        assert re.search(rf"[\t ]{re.escape(manager['depNameTemplate'])} v", modules), manager["depNameTemplate"]
        outer, *inner = (re.compile(each.replace("(?<", "(?P<")) for each in manager["matchStrings"])
        (place,) = outer.finditer(text)
        values = (
            [place["currentValue"]] if not inner else [each["currentValue"] for each in inner[0].finditer(place[0])]
        )
        assert values
        assert all(re.fullmatch(r"[\d.]+", value) for value in values)
        read.append(place[0].split(" = ")[0].strip())
    versions = {name for name, _ in re.findall(r'^([A-Z][A-Z0-9_]*) = ("[\d.]+"|\{"[\d.]+": "[\d.]+")', text, re.M)}
    assert len(read) == len({*read})
    assert {*read} == versions - HELD
