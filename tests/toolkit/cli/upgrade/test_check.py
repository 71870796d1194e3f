"""`./hpc upgrade check`: between settings, and from a state or a cluster."""

import json
from functools import partial
from pathlib import Path

import pytest
import yaml

from core.errors import UserError
from tests.support.commands import finished
from tests.support.recorded import ROOT
from toolkit.cli.shared.errors import Problem
from toolkit.cli.upgrade import check

_run = partial(finished, check.command, "--stack", "h200-infiniband")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file of settings with operators of 2025."""
    text = (ROOT / "stacks/examples/h200-infiniband.yaml").read_text()
    for now, then in (
        ('"4.21"', '"4.20"'),
        ("v26.7", "v25.10"),
        ("595.91.07", "580.105.08"),
        ("v26.4.1", "v25.10.0"),
        ("v26.4", "v25.10"),
        ("doca3.4.1-26.04-1.1.0.0-1", "doca3.2.0-25.10-1.2.8.0-2"),
    ):
        assert now in text
        text = text.replace(now, then)
    file = tmp_path_factory.mktemp("old") / "old.yaml"
    file.write_text(text)
    return str(file)


def test_the_way_to_a_release(old: str) -> None:
    """To a release all steps are supported; each shows what to do, and what it changes as YAML."""
    status, output = _run("--from", old, "--to", "4.22")
    assert status == 0, output
    assert "1. GPU Operator 25.10 to 26.3" in output
    assert "7. OpenShift 4.21 to 4.22" in output
    assert "supported, pools paused" in output
    assert "EtcdStorageVersion3Migration" in output
    assert "GPU Operator 25.10: its vendor has ended it" in output
    assert "channel: v26.3" in output


def test_json_for_pipelines(old: str) -> None:
    """JSON has the steps with verdicts and settings, which are those of the stack at the end."""
    status, output = _run("--from", old, "--json")
    content = json.loads(output)
    assert (status, content["supported"]) == (0, True)
    assert [step["name"] for step in content["steps"]] == ["GPU Operator"] * 2 + ["Network Operator"] * 2 + [
        "OpenShift"
    ]
    values = {path: value for step in content["steps"] for path, value in step["settings"].items()}
    aim = yaml.safe_load((ROOT / "stacks/examples/h200-infiniband.yaml").read_text())["config"]["hpc:platform"]
    assert values["fabric.plugin.driver.version"] == aim["fabric"]["plugin"]["driver"]["version"]
    assert values["release"] == aim["release"]


def test_a_way_back_is_refused(old: str) -> None:
    """OpenShift cannot be downgraded: exit status 1."""
    status, output = _run("--to", old, "--from", "h200-infiniband")
    assert status == 1
    assert "a restore of etcd is the only way back" in output


def test_nothing_to_do() -> None:
    """Between the same versions there is no step."""
    status, output = _run("--from", "h200-infiniband")
    assert (status, "Nothing to do" in output) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--from", "h200-infiniband", "--to", "4.99"), "--to 4.99: nothing is known of that release"),
        (("--from", "nowhere.yaml"), "nowhere.yaml cannot be read"),
        (("--from", "nowhere"), "no settings for stack 'nowhere'"),
        (("--from", "two-layers-tenants"), "tenants have no versions of their own"),
    ],
)
def test_wrong_ends_are_refused(arguments: tuple[str, ...], expected: str) -> None:
    """An end that is not there is named, with what there is."""
    with pytest.raises(UserError, match=expected):
        _run(*arguments)


def test_a_state_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without an update there is no state to start from."""
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    with pytest.raises(Problem, match="does not say which release"):
        _run("--from", "state")
