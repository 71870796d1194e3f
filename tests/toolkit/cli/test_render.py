"""`./hpc render`, on folders."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tests.support.messages import has
from tests.support.recorded import environment
from toolkit.cli.app import app
from toolkit.cli.render import _wrong_address
from toolkit.cli.shared.errors import Problem


def run(*arguments: str | Path) -> str:
    """Run `./hpc render`; return what it prints."""
    result = CliRunner().invoke(app, ["render", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_manifests_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One object a file is written, and no Secrets."""
    monkeypatch.setattr("toolkit.render.manifests.registrations", {"dev": environment("dev")}.__getitem__)
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


def written(file: Path) -> dict[str, Any]:
    """Return a file as data."""
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    return content


def options(file: Path) -> set[str]:
    """Return the sync options of a manifest for Argo CD."""
    return set(written(file)["metadata"]["annotations"].get("argocd.argoproj.io/sync-options", "").split(","))


def test_argocd_has_waves_an_application_and_health_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waves are annotations, objects of others are applied in part and never deleted, and a changed Job is replaced."""
    monkeypatch.chdir(tmp_path)
    output = run("--stack", "prod", "--argocd", "clusters/prod", "--source", "https://git.corp.example/platform.git")
    assert "in 16 waves in clusters/prod" in output
    folder = tmp_path / "clusters/prod"
    application = written(folder / "application.yaml")["spec"]
    assert application["source"] == {
        "repoURL": "https://git.corp.example/platform.git",
        "targetRevision": "HEAD",
        "path": "clusters/prod/waves",
        "directory": {"recurse": True},
    }
    # With it, a retry would not wait for the objects that failed.
    assert "ApplyOutOfSyncOnly=true" not in application["syncPolicy"]["syncOptions"]
    # The specification of jobs that are kept.
    assert "RespectIgnoreDifferences=true" in application["syncPolicy"]["syncOptions"]
    assert {item["name"] for item in application["ignoreDifferences"]} == {"tf2-a2d2-16x01-gpu", "tf2-resnet50-01x08"}
    (node,) = folder.glob("waves/*/node.dgx01.hpc.example.com.yaml")
    assert options(node) == {"ServerSideApply=true", "Validate=false", "Prune=false", "Delete=false"}
    assert written(node)["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == str(int(node.parent.name))
    (job,) = folder.glob("waves/*/job.adas.mofed-test-job.yaml")
    assert options(job) == {"ServerSideApply=false", "Force=true"}
    (volume,) = folder.glob("waves/*/persistentvolume.adas-data-pv01.yaml")
    assert options(volume) == {"Prune=false", "Delete=false"}
    data = written(folder / "health/argocd-cm.yaml")["data"]
    checks = written(folder / "health/argocd.yaml")["spec"]["resourceHealthChecks"]
    assert {text for key, text in data.items()} == {check["check"] for check in checks}
    assert "resource.customizations.health.nvidia.com_ClusterPolicy" in data
    page = (folder / "README.md").read_text()
    assert "| ibm-spectrum-scale | cnsa-remote-mount-ess3000 | Opaque | `password`, `username` | 7 |" in page
    assert "- NicClusterPolicy nic-cluster-policy: until `.status.state` is ready" in page


def test_flux_has_a_kustomization_for_each_wave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each depends on the one before, and checks what the program waits for; its time is the longest of these."""
    monkeypatch.chdir(tmp_path)
    run("--stack", "dev", "--flux", "clusters/dev")
    folder = tmp_path / "clusters/dev"
    listed = written(folder / "kustomization.yaml")["resources"]
    waves = [written(folder / name) for name in listed]
    names = [wave["metadata"]["name"] for wave in waves]
    assert names == [f"hpc-dev-{number:02}" for number in range(17)]
    assert [wave["spec"].get("dependsOn") for wave in waves] == [None, *([{"name": name}] for name in names[:-1])]
    assert [wave["spec"]["path"] for wave in waves[:2]] == ["./clusters/dev/waves/00", "./clusters/dev/waves/01"]
    second = waves[1]["spec"]
    assert second["timeout"] == "3600s"
    assert {check["kind"] for check in second["healthChecks"]} == {"MachineConfigPool", "Subscription"}
    assert {rule["kind"]: rule["current"] for rule in second["healthCheckExprs"]}["Subscription"] == (
        'status.?installedCSV.hasValue() && status.?installedCSV.orValue("") == status.?currentCSV.orValue("") '
        '&& status.?state.orValue("") == "AtLatestKnown"'
    )
    jobs = [check["name"] for wave in waves for check in wave["spec"].get("healthChecks", ()) if check["kind"] == "Job"]
    # Flux would wait for the end of the listener, which waits for the next wave.
    assert jobs == ["mofed-test-job", "nv-nccl-dgx01", "nv-nccl-dgx02"]
    (pool,) = folder.glob("waves/*/machineconfigpool.worker.yaml")
    assert written(pool)["metadata"]["annotations"] == {
        "hpc.pulumi/awaited": "5444f7de6212b676",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
        "kustomize.toolkit.fluxcd.io/ssa": "Merge",
    }
    (kept,) = folder.glob("waves/*/mpijob.adas.tf2-resnet50-02x08x02.yaml")
    assert written(kept)["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"


def test_one_folder_is_needed(tmp_path: Path) -> None:
    """Two forms at a time, or none, are refused with the options."""
    for arguments in ((), ("-o", tmp_path, "--flux", tmp_path)):
        with pytest.raises(Problem, match="--argocd DIR or --flux DIR"):
            run("--stack", "dev", *arguments)
    with pytest.raises(Problem, match="--dashboards -o DIR"):
        run("--stack", "dev", "--dashboards", "--argocd", tmp_path)


def test_the_path_that_a_tool_reads_begins_at_the_folders_repository(tmp_path: Path) -> None:
    """A folder in another repository has its path there; one without a path that a tool could read is refused."""
    (tmp_path / "gitops" / ".git").mkdir(parents=True)
    run("--stack", "dev", "--argocd", tmp_path / "gitops" / "clusters" / "dev")
    application = written(tmp_path / "gitops" / "clusters" / "dev" / "application.yaml")
    assert application["spec"]["source"]["path"] == "clusters/dev/waves"
    for folder, message in ((tmp_path / "elsewhere", "in no git repository"), (tmp_path / "gitops", "the root of")):
        with pytest.raises(Problem, match=f"{folder} is {message}"):
            run("--stack", "dev", "--flux", folder)


@pytest.mark.parametrize(
    ("tool", "source", "message"),
    [
        ("--argocd", "platform", "is no address of a git repository"),
        ("--argocd", "https://git.example.com", "is no address of a git repository"),
        ("--argocd", "https://robot:token@git.example.com/a.git", "has a password"),
        ("--flux", "https://git.example.com/a.git", "is no name of a GitRepository"),
    ],
)
def test_a_source_that_no_tool_can_read_is_refused(
    tool: str, source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Argo CD takes an address of git, without a password; Flux takes a name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem, match=f"--source {source}: {message}"):
        run("--stack", "dev", tool, "clusters/dev", "--source", source)


@pytest.mark.parametrize("source", ["git@git.example.com:a/b.git", "ssh://git@git.example.com:22/a.git"])
def test_addresses_of_ssh_are_taken(source: str) -> None:
    """Both forms of an address for SSH are ones that Argo CD reads."""
    assert not _wrong_address(source)
