"""`./hpc scc explain`: its arguments, its exit status, and lines of JSON in place of files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.messages import has
from tests.toolkit.cli.scc.samples import IDS, MPI, NAMESPACE, PLAIN, POD, SPEC, explain, verdicts, write
from toolkit.cli.shared.paths import ROOT


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
    """A file that cannot be read has exit status 2 and a message, and is not a refusal."""
    path = tmp_path / "broken.yaml"
    path.write_text(content)
    result = explain("-f", path)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the pod's file"),
        (["-f", "/nowhere.yaml"], "/nowhere.yaml"),
        (["/nowhere.yaml"], "/nowhere.yaml"),
        (["--batch", "/nowhere"], "cannot be read"),
        (["--batch", "-", "-f", "x"], "takes no other files"),
        (["--batch", "-", "x"], "takes no other files"),
        (["-", "--group", "g"], "--group is one of --user"),
        (["-", "--annotation", "foo"], "--annotation foo: write KEY=VALUE"),
        (["-", "--annotation", "openshift.io/sa.scc.uid-range=many"], "'many' cannot be read"),
        (["-", "--annotation", "openshift.io/sa.scc.supplemental-groups=1/2,x"], "'1/2,x' cannot be read"),
        (["-", "--annotation", "openshift.io/sa.scc.mcs="], "'' cannot be read"),
        (["-", "--usable", "nosuch"], "--usable nosuch: no such SCC; known: anyuid, "),
    ],
)
def test_wrong_arguments(arguments: list[str], said: str) -> None:
    """A mistyped name is refused with the valid ones."""
    result = explain(*arguments, stdin=yaml.safe_dump_all([PLAIN, NAMESPACE]))
    assert result.exit_code == 2
    assert result.output.startswith("error: ")
    assert said in result.output


def test_standard_input() -> None:
    """Manifests are read from standard input."""
    result = explain("-f", "-", "--json", stdin=yaml.safe_dump_all([PLAIN, NAMESPACE]))
    assert [found["scc"] for found in json.loads(result.output)] == ["restricted-v2"]


# An SCC and a pod as users write them, and as a cluster stores them.
DECLARED = {
    **{key: value for key, value in MPI.items() if key != "volumes"},
    "users": ["system:serviceaccount:adas:default"],
    "priority": 20,
}
STORED = {
    **DECLARED,
    "allowPrivilegeEscalation": True,
    "fsGroup": {"type": "RunAsAny"},
    "supplementalGroups": {"type": "RunAsAny"},
    "volumes": ["csi", "emptyDir", "secret"],
}
VOLUMES = [{"name": "data", "csi": {"driver": "example"}}]
WRITTEN = {**POD, "spec": {**SPEC, "serviceAccount": None, "volumes": VOLUMES, "privileged": True}}
DEFAULTED = {**POD, "spec": {**SPEC, "serviceAccountName": "default", "securityContext": {}, "volumes": VOLUMES}}


def test_as_declared_and_as_stored(tmp_path: Path) -> None:
    """An SCC as declared and a pod as written give the verdict of their stored forms, and what is dropped is named."""
    found = []
    for scc, pod in ((DECLARED, WRITTEN), (STORED, DEFAULTED)):
        (verdict,) = verdicts(write(tmp_path / "a.yaml", pod, NAMESPACE, scc))
        found.append((verdict["scc"], verdict["filledIn"], verdict["admittedPod"]))
    assert found[0] == found[1]
    assert found[0][0] == "scc-for-mpi"
    path = write(tmp_path / "a.yaml", WRITTEN, NAMESPACE, DECLARED)
    assert verdicts(path)[0]["droppedFields"] == ["spec.privileged"]
    assert has(explain(path).stdout, "spec.privileged", "privileged is not a field of PodSpec")


def test_batch_as_declared_and_as_stored() -> None:
    """A line with an SCC as declared and a pod as written gets the answer of their stored forms."""
    case = {"namespace": {"name": "adas", "annotations": IDS}, "user": {"name": "alice", "groups": []}, "usable": []}
    pairs = ((DECLARED, WRITTEN), (STORED, DEFAULTED))
    lines = [json.dumps({"id": 1, **case, "pod": pod, "sccs": [scc]}) for scc, pod in pairs]
    first, second = explain("--batch", "-", stdin="\n".join(lines)).stdout.splitlines()
    assert json.loads(first) == json.loads(second)
    assert json.loads(first)["scc"] == "scc-for-mpi"


def test_batch(tmp_path: Path) -> None:
    """A broken line of a batch has its own error and does not end the others."""
    case = {
        "pod": PLAIN,
        "namespace": {"name": "adas", "annotations": IDS},
        "user": {"name": "alice", "groups": []},
        "usable": ["scc-for-mpi"],
        "sccs": [MPI],
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
    """A stack's own SCC counts, and a batch imports no library that it does not need."""
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
        [sys.executable, "-X", "importtime", ROOT / "toolkit" / "cli", "scc", "explain", "--batch", os.devnull],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stderr
    assert "policies.scc" in listed
    assert not {"pulumi", "rich", "yaml"} & {line.rpartition("|")[2].strip() for line in listed.splitlines()}
