"""`./hpc scc explain`, in this process: what it prints and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from cli.commands.scc import app
from cli.places import ROOT

IDS = {"openshift.io/sa.scc.uid-range": "1000680000/10000", "openshift.io/sa.scc.mcs": "s0:c26,c15"}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "adas", "annotations": IDS}}
MPI = {
    "apiVersion": "security.openshift.io/v1",
    "kind": "SecurityContextConstraints",
    "metadata": {"name": "scc-for-mpi"},
    "allowedCapabilities": ["IPC_LOCK"],
    "runAsUser": {"type": "MustRunAsRange"},
    "seLinuxContext": {"type": "MustRunAs"},
    "volumes": ["emptyDir"],
}
RULE = {
    "apiGroups": ["security.openshift.io"],
    "resources": ["securitycontextconstraints"],
    "verbs": ["use"],
    "resourceNames": ["scc-for-mpi"],
}
RBAC = "rbac.authorization.k8s.io"
ROLE = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "Role",
    "metadata": {"name": "mpi", "namespace": "adas"},
    "rules": [RULE],
}
BINDING = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "mpi", "namespace": "adas"},
    "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "mpi"},
    "subjects": [{"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}],
}
SPEC = {"containers": [{"name": "main", "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}]}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "worker", "namespace": "adas"}, "spec": SPEC}
PLAIN = {**POD, "spec": {"containers": [{"name": "main"}]}}


def explain(*arguments: object, stdin: str = "") -> Any:
    """Run `hpc scc explain`."""
    return CliRunner().invoke(app, ["explain", *(str(argument) for argument in arguments)], input=stdin)


def write(path: Path, *objects: dict[str, Any]) -> Path:
    """Write objects as one YAML file."""
    path.write_text(yaml.safe_dump_all(objects))
    return path


def verdicts(*arguments: object) -> list[dict[str, Any]]:
    """Run with --json and return what is printed."""
    result = explain(*arguments, "--json")
    assert result.exit_code in (0, 1), result.output
    found: list[dict[str, Any]] = json.loads(result.output)
    return found


def test_refused(tmp_path: Path) -> None:
    """Prevents a refusal without OpenShift's words, or with the exit status of success."""
    result = explain("-f", write(tmp_path / "pod.yaml", NAMESPACE, POD))
    assert result.exit_code == 1
    assert "Pod adas/worker: refused (namespace adas, service account default" in result.output
    assert 'pods "worker" is forbidden: unable to validate against any security context constraint: [' in result.output
    assert 'provider "privileged": Forbidden: not usable by user or serviceaccount' in result.output


def test_admitted(tmp_path: Path) -> None:
    """Prevents a table that leaves out an SCC, or what the one that took the pod filled in."""
    result = explain("-f", write(tmp_path / "pod.yaml", PLAIN, NAMESPACE))
    assert result.exit_code == 0, result.output
    assert "admitted by restricted-v2" in result.output
    rows = [line.split("│")[2:5] for line in result.output.splitlines() if line.count("│") == 5]
    assert [[cell.strip() for cell in row] for row in rows][:3] == [
        ["anyuid", "no", 'provider "anyuid": Forbidden: not usable by user or serviceaccount'],
        ["restricted-v2", "yes", "admits it"],
        ["restricted-v3", "", "not tried"],
    ]
    assert "spec.containers[0].securityContext.runAsUser" in result.output
    assert "1000680000" in result.output


def test_only_the_old_restricted_would_do(tmp_path: Path) -> None:
    """Prevents the hint on `restricted` from hiding that it is not usable."""
    spec = {"containers": [{"name": "main", "securityContext": {"allowPrivilegeEscalation": True}}]}
    result = explain("-f", write(tmp_path / "pod.yaml", {**POD, "spec": spec}, NAMESPACE))
    (row,) = (line.split("│")[3].strip() for line in result.output.splitlines() if "│ restricted " in line)
    assert row == "no"
    assert "no access to scc/restricted" in result.output


def test_rbac_in_files(tmp_path: Path) -> None:
    """Prevents a verdict that knows nothing of the tenant's role, and one that outlives its binding."""
    pod = write(tmp_path / "pod.yaml", POD)
    around = tmp_path / "cluster"
    around.mkdir()
    write(around / "a.yaml", NAMESPACE, {"apiVersion": "v1", "kind": "List", "items": [MPI, ROLE]})
    binding = write(around / "b.yml", BINDING)
    asked = ("-f", pod, "--sccs", around, "--release", "4.4")
    assert [found["scc"] for found in verdicts(*asked, "--service-account", "mpi")] == ["scc-for-mpi"]
    assert not verdicts(*asked)[0]["admitted"]
    binding.unlink()
    assert not verdicts(*asked, "--service-account", "mpi")[0]["admitted"]
    assert verdicts(*asked, "--usable", "scc-for-mpi")[0]["scc"] == "scc-for-mpi"


def test_who_asks(tmp_path: Path) -> None:
    """Prevents a user's own rights from being forgotten."""
    pod = write(tmp_path / "pod.yaml", POD, NAMESPACE)
    assert not verdicts("-f", pod, "--user", "alice")[0]["admitted"]
    (found,) = verdicts("-f", pod, "--user", "root", "--group", "system:cluster-admins")
    assert (found["scc"], found["user"]) == ("privileged", "root")
    assert found["filledIn"]["metadata.annotations.security.openshift.io/validated-scc-subject-type"] == "user"


def test_releases(tmp_path: Path) -> None:
    """Prevents the SCCs of another release from deciding."""
    pod = write(tmp_path / "pod.yaml", PLAIN, NAMESPACE)
    assert [verdicts("-f", pod, "--release", each)[0]["scc"] for each in ("4.4", "current")] == [
        "restricted",
        "restricted-v2",
    ]
    assert len(verdicts("-f", pod, "--release", "4.4")[0]["order"]) == 7


def test_the_sccs_of_a_cluster_stand_alone(tmp_path: Path) -> None:
    """Prevents defaults beside a dump of a cluster in which they were deleted or changed."""
    restricted = {**MPI, "metadata": {"name": "restricted"}, "groups": ["system:authenticated"]}
    pod = write(tmp_path / "pod.yaml", POD, NAMESPACE, restricted)
    (found,) = verdicts("-f", pod)
    assert (found["order"], found["scc"]) == (["restricted"], "restricted")


def test_workloads(tmp_path: Path) -> None:
    """Prevents a job or an MPIJob from passing because it is no pod."""
    template = {"spec": SPEC}
    replicas = {"Launcher": {"template": {"spec": PLAIN["spec"]}}, "Worker": {"template": template}}
    jobs = write(
        tmp_path / "jobs.yaml",
        NAMESPACE,
        {
            "apiVersion": "kubeflow.org/v1alpha2",
            "kind": "MPIJob",
            "metadata": {"name": "nccl", "namespace": "adas"},
            "spec": {"mpiReplicaSpecs": replicas},
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}, "spec": {"template": template}},
    )
    found = verdicts("-f", jobs, "--namespace", "adas")
    assert [(each["pod"], each["admitted"]) for each in found] == [
        ("MPIJob adas/nccl, Launcher", True),
        ("MPIJob adas/nccl, Worker", False),
        ("Job one", False),
    ]
    assert 'pods "one-" is forbidden' in found[2]["message"]


def test_the_namespace_by_options(tmp_path: Path) -> None:
    """Prevents ids that are made up where nobody said which the namespace has."""
    pod = write(tmp_path / "pod.yaml", PLAIN)
    unknown = explain("-f", pod)
    assert unknown.exit_code == 2
    assert "namespace adas is not among the files" in unknown.output
    given = [part for key, value in IDS.items() for part in ("--annotation", f"{key}={value}")]
    (found,) = verdicts("-f", pod, *given)
    assert found["filledIn"]["spec.containers[0].securityContext.runAsUser"] == 1000680000
    assert "unable to find annotation openshift.io/sa.scc.mcs" in verdicts("-f", pod, *given[:2])[0]["message"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("a: [", "broken.yaml:1: is not YAML", id="no YAML"),
        pytest.param("{}", "no pod in", id="no pod"),
        pytest.param(
            yaml.safe_dump_all([{**POD, "spec": {"hostPID": "x"}}, NAMESPACE]), "spec.hostPID: expected", id="malformed"
        ),
        pytest.param(yaml.safe_dump_all([{**MPI, "volumes": 5}, POD]), "volumes: expected a list", id="a broken SCC"),
    ],
)
def test_unreadable(tmp_path: Path, content: str, said: str) -> None:
    """Prevents a traceback, and a broken file that counts as a refusal."""
    path = tmp_path / "broken.yaml"
    path.write_text(content)
    result = explain("-f", path)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    "arguments", [[], ["-f", "/nowhere.yaml"], ["--batch", "/nowhere"], ["--batch", "-", "-f", "x"]]
)
def test_wrong_arguments(arguments: list[str]) -> None:
    """Prevents a traceback where a name was mistyped."""
    result = explain(*arguments)
    assert result.exit_code == 2
    assert result.output.startswith("error: ")


def test_standard_input() -> None:
    """Prevents a pipe from helm or kustomize from being refused."""
    result = explain("-f", "-", "--json", stdin=yaml.safe_dump_all([PLAIN, NAMESPACE]))
    assert [found["scc"] for found in json.loads(result.output)] == ["restricted-v2"]


def test_batch(tmp_path: Path) -> None:
    """Prevents a broken line from ending the others, or from going unnoticed at the end."""
    case = {
        "pod": PLAIN,
        "namespace": {"name": "adas", "annotations": IDS},
        "user": {"name": "alice", "groups": []},
        "usable": ["scc-for-mpi"],
        "sccs": [{**MPI, "fsGroup": {"type": "RunAsAny"}, "supplementalGroups": {"type": "RunAsAny"}}],
    }
    lines = [json.dumps({"id": 1, **case}), "broken", json.dumps({"id": 2, **case, "usable": []})]
    path = tmp_path / "pods.jsonl"
    path.write_text("\n".join(lines))
    result = explain("--batch", path)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 2
    assert [(each["id"], each.get("scc"), "error" in each) for each in answers] == [
        (1, "scc-for-mpi", False),
        (None, None, True),
        (2, None, False),
    ]
    assert explain("--batch", "-", stdin=lines[0]).exit_code == 0


@pytest.mark.engine  # starts ./hpc, and renders a stack
def test_stack_and_start_up(tmp_path: Path) -> None:
    """Prevents a stack's own SCC from being forgotten, and a batch that waits for libraries which it does not need."""
    pod = write(tmp_path / "pod.yaml", {**POD, "spec": {**SPEC, "serviceAccountName": "mpi"}})
    done = subprocess.run(
        [ROOT / "hpc", "scc", "explain", "-f", pod, "--stack", "dev", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["scc"] == "scc-for-mpi"
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", ROOT / "cli", "scc", "explain", "--batch", os.devnull],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stderr
    assert "policies.scc" in listed
    assert not {"pulumi", "rich", "yaml"} & {line.rpartition("|")[2].strip() for line in listed.splitlines()}
