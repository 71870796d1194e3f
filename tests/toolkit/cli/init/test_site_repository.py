"""The files of a site's own repository, as they are written."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_group

from core import project
from tests.support.commands import finished
from toolkit.cli.app import app
from toolkit.cli.init import command as module
from toolkit.cli.init.site_repository import GITHUB, texts
from toolkit.cli.shared.errors import Problem

WORKFLOWS = [place for place in texts("lab") if place.startswith(".github/")]
SERVER = "https://github.example.com"


def test_the_project_runs_the_product_in_its_own_environment() -> None:
    """Plain `pulumi` finds program and packages; the engine refuses the ambient cluster, as in a checkout."""
    written, ours = (yaml.safe_load(text) for text in (texts("lab")["Pulumi.yaml"], _ours("Pulumi.yaml")))
    assert written["main"] == "product"
    assert written["runtime"]["options"] == {"toolchain": "pip", "virtualenv": "product/.venv"}
    assert (written["name"], written["config"]) == (ours["name"], ours["config"])


def test_nothing_is_left_to_fill_in() -> None:
    """The name of the folder is that of the site, and no marker remains."""
    written = texts("lab")
    assert written["README.md"].startswith("# lab\n")
    assert not re.search(r"@[A-Z]+@|@actions/", "".join(written.values()))


def test_workflows_pin_the_actions_that_ours_do() -> None:
    """An action is named by the commit that the product's workflows were tested with."""
    reviewed = [_ours(f".github/workflows/{name}.yml") for name in ("update", "pull-request")]
    ours = {line.split("uses: ")[1] for text in reviewed for line in _uses(text)}
    used = {line.split("uses: ")[1] for name in WORKFLOWS for line in _uses(texts("lab")[name])}
    assert used <= ours
    assert {name.partition("@")[0] for name in used} == {
        *("actions/checkout", "actions/upload-artifact", "actions/download-artifact"),
        "github/codeql-action/upload-sarif",
    }


def test_workflows_of_an_own_server_name_what_it_brings_along() -> None:
    """An Enterprise Server has its own versions of GitHub's actions, and nothing is read from github.com."""
    written = "".join(texts("lab", SERVER)[name] for name in WORKFLOWS)
    assert {line.strip().removeprefix("- ") for line in _uses(written)} == {
        *("uses: actions/checkout@v4", "uses: actions/upload-artifact@v3", "uses: actions/download-artifact@v3"),
        "uses: github/codeql-action/upload-sarif@v3",
    }
    assert "github.com" not in written
    assert texts("lab", f"{GITHUB}/") == texts("lab")


@pytest.mark.parametrize("name", [*WORKFLOWS, ".gitlab-ci.yml"])
def test_a_pull_request_gets_no_credentials(name: str) -> None:
    """Jobs that run the code of a branch have no secrets; those that have any are in an environment."""
    content = yaml.safe_load(texts("lab")[name])
    jobs = content.get("jobs", content).values()
    for job in (each for each in jobs if isinstance(each, dict) and {"steps", "script"} & each.keys()):
        assert ("secrets." in str(job) or "kubeconfig" in str(job)) == ("environment" in job)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_job_with_credentials_reads_the_rule_of_its_environment(name: str) -> None:
    """GitHub creates an environment that does not exist, without rules: the product's script refuses it first."""
    for job in yaml.safe_load(texts("lab")[name])["jobs"].values():
        if "environment" in job:
            first = next(step for step in job["steps"] if "run" in step)
            assert (project.PRODUCT / first["run"].removeprefix("python3 product/")).is_file()
            assert first["env"]["ENVIRONMENT"] == job["environment"]
            assert job["permissions"]["actions"] == "read"


def test_every_stack_that_a_variable_names_is_checked() -> None:
    """The stacks of a pull request are those with a file and those that CI would update, preview or compare."""
    listed = yaml.safe_load(texts("lab")[".github/workflows/pull-request.yml"])["jobs"]["stacks"]["steps"][-1]
    workflows = "".join(texts("lab")[name] for name in WORKFLOWS)
    named = set(re.findall(r"vars\.(HPC_\w+_STACKS)", workflows))
    assert named == set(re.findall(r"HPC_\w+_STACKS", listed["env"]["NAMED"]))


@pytest.mark.parametrize(
    ("named", "names"),
    [(",,", '["a","b"]'), ('["b"],["nope"],', '["a","b","nope"]'), ('["c", "d"],[],', '["a","b","c","d"]')],
)
def test_stacks_are_listed(named: str, names: str, tmp_path: Path) -> None:
    """Names of files and of variables are one list, without duplicates; what has no file fails when it is checked."""
    for name in "ab":
        (tmp_path / f"Pulumi.{name}.yaml").touch()
    listed = yaml.safe_load(texts("lab")[".github/workflows/pull-request.yml"])["jobs"]["stacks"]["steps"][-1]
    output = tmp_path / "output"
    environment = {"PATH": os.environ["PATH"], "NAMED": named, "GITHUB_OUTPUT": str(output)}
    subprocess.run(["bash", "-e", "-c", listed["run"]], cwd=tmp_path, env=environment, check=True)
    assert output.read_text() == f"names={names}\n"


@pytest.mark.parametrize("name", [*WORKFLOWS, ".gitlab-ci.yml"])
def test_its_targets_are_the_products(name: str) -> None:
    """What a workflow runs by make is a target of the product's Makefile."""
    targets = re.findall(r"make -sC product (\w+)", texts("lab")[name])
    assert all(re.search(rf"^{target}: ", _ours("Makefile"), re.MULTILINE) for target in targets)


@pytest.mark.parametrize("name", [*WORKFLOWS, ".gitlab-ci.yml", "README.md"])
def test_its_commands_exist(name: str) -> None:
    """Every command of a workflow or of the page is one of `./hpc`, with its options."""
    group: Any = get_group(app)
    found = re.findall(r"^[^#\n]*?\./hpc (?:(ci|sim) )?([a-z-]+)([^#|\n]*)", texts("lab")[name], re.MULTILINE)
    assert found
    for inside, command, rest in found:
        of = group.get_command(None, inside) if inside else group
        options = {option for each in of.get_command(None, command).params for option in each.opts}
        assert {word for word in rest.split() if re.match(r"--?[a-z]", word)} <= options


def test_the_wrapper_installs_by_a_target_of_the_makefile() -> None:
    """The product's Makefile has the target by which the wrapper installs packages, and stamps what it installed."""
    (target,) = re.findall(r"make --silent -C \S+ (\w+)", texts("lab")["hpc"])
    makefile = _ours("Makefile")
    assert re.search(rf"^{target}: \$\(STAMP\)", makefile, re.MULTILINE)
    assert "STAMP := $(VENV)/.installed\n" in makefile


@pytest.mark.parametrize(
    "arguments",
    [[], ["--version", "v1"], ["lab", "--site", "there"], ["lab", "--product", "a"]],
)
def test_a_stack_and_a_repository_are_made_apart(arguments: list[str]) -> None:
    """Neither a name nor a folder, or both, is refused with the two forms."""
    with pytest.raises(Problem, match=r"NAME[\s\S]*`./hpc init NAME ...` for a stack, or `./hpc init --site FOLDER`"):
        finished(module.command, *arguments)


def test_what_is_there_is_left(tmp_path: Path) -> None:
    """A folder that has such a file is refused before anything is written."""
    (tmp_path / "README.md").write_text("mine\n")
    with pytest.raises(Problem, match=r"README.md is there already[\s\S]*--force"):
        finished(module.command, "--site", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def _ours(path: str) -> str:
    return (project.PRODUCT / path).read_text()


def _uses(text: str) -> list[str]:
    return [line for line in text.splitlines() if "uses: " in line]
