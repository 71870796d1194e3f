"""`./hpc render`, on folders."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.shared.errors import Problem
from tests.support.messages import has
from tests.support.recorded import environment


def run(*arguments: str | Path) -> str:
    """Run `./hpc render`; return what it prints."""
    result = CliRunner().invoke(app, ["render", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_manifests_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One object a file is written, and no Secrets."""
    monkeypatch.setattr("rendering.manifests.registrations", {"dev": environment("dev")}.__getitem__)
    output = run("--stack", "dev", "-o", tmp_path / "out")
    files = sorted(file.name for file in (tmp_path / "out").glob("*.yaml"))
    assert f"{len(files)} manifests of stack dev" in output
    assert "securitycontextconstraints.scc-for-mpi.yaml" in files
    assert not any(name.startswith("secret.") for name in files)


def test_dashboards_are_written_in_place_of_manifests(tmp_path: Path) -> None:
    """The files are the console's dashboards by name, and none is a manifest."""
    output = run("--dashboards", "--stack", "prod", "-o", tmp_path)
    found = {file.name: json.loads(file.read_text())["uid"] for file in tmp_path.glob("hpc-*")}
    assert found == {f"{name}.json": name for name in ("hpc-gpus", "hpc-infiniband", "hpc-tenants")}
    assert "3 files for monitoring of stack prod" in output
    assert has(" ".join(output.split()), *sorted(found))
    assert not list(tmp_path.glob("*.yaml"))


def test_the_help_says_when_there_are_rules() -> None:
    """The help names each file with the condition under which it is written."""
    text = " ".join(run("--help").replace("│", " ").split())
    assert has(text, "gpu.monitoring.notify", "prometheus-rules.yaml where the cluster's Prometheus accepts no rules")


def test_rules_are_written_for_a_prometheus_of_the_site(tmp_path: Path) -> None:
    """Where the cluster's own Prometheus takes no rules, they are a file beside the dashboards."""
    run("--dashboards", "--stack", "supermicro-3.11", "-o", tmp_path)
    assert {file.name for file in tmp_path.iterdir()} >= {"prometheus-rules.yaml", "hpc-gpus.json"}


def test_a_stack_without_an_exporter_has_none(tmp_path: Path) -> None:
    """Nothing is written where the expressions would find no metrics."""
    with pytest.raises(Problem, match="has no dashboards"):
        run("--dashboards", "--stack", "dev", "-o", tmp_path)
