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


def rows(output: str) -> dict[str, str]:
    """Return the rows of the table of SCCs: name and verdict, the lines of one verdict joined."""
    lines = output.splitlines()
    head = next(index for index, line in enumerate(lines) if line.startswith("SCC "))
    width, name, found = lines[head].index("verdict"), "", dict[str, str]()
    for line in lines[head + 1 :]:
        if line[width - 2 : width].strip() or not line.strip() or line.startswith("filled in "):  # the table is over
            break
        name = line[:width].strip() or name
        found[name] = f"{found.get(name, '')} {line[width:].strip()}".strip()
    return found


def test_refused(tmp_path: Path) -> None:
    """Prevents a refusal that drowns in one reason said four times, or that ends with the status of success."""
    result = explain(write(tmp_path / "pod.yaml", NAMESPACE, POD))
    assert result.exit_code == 1
    assert "Pod adas/worker: refused (namespace adas, service account default; SCCs of OpenShift release current)" in (
        result.output
    )
    assert "is forbidden" not in result.output
    assert "note:" not in result.output
    found = rows(result.output)
    assert (found["anyuid"], found["privileged"]) == ("not usable", "not usable")
    assert found["restricted-v2"] == (
        'containers[0].capabilities.add: Invalid value: "IPC_LOCK": capability may not be added'
    )
    assert len(result.output.splitlines()) < 25


def test_a_complaint_about_the_pod_is_said_once(tmp_path: Path) -> None:
    """Prevents thirteen lines for three faults: the plugin says them again at each container."""
    containers = [{"name": "a"}, {"name": "b", "ports": [{"containerPort": 9100, "hostPort": 9100}]}]
    path = write(tmp_path / "pod.yaml", {**POD, "spec": {"hostPID": True, "containers": containers}}, NAMESPACE)
    assert rows(explain(path).output)["restricted-v2"] == (
        "spec.hostPID: Invalid value: true: Host PID is not allowed to be used "
        "containers[1].hostPort: Invalid value: 9100: Host ports are not allowed to be used"
    )


def test_verbose(tmp_path: Path) -> None:
    """Prevents OpenShift's own words, which people search for, from being out of reach."""
    result = explain(write(tmp_path / "pod.yaml", NAMESPACE, POD), "--verbose")
    assert 'pods "worker" is forbidden: unable to validate against any security context constraint: [' in result.output
    assert 'provider "privileged": Forbidden: not usable by user or serviceaccount' in result.output


def test_admitted(tmp_path: Path) -> None:
    """Prevents a table that leaves out an SCC that was tried, or what the one that took the pod filled in."""
    result = explain("-f", write(tmp_path / "pod.yaml", PLAIN, NAMESPACE))
    assert result.exit_code == 0, result.output
    assert "admitted by restricted-v2" in result.output
    assert rows(result.output) == {"anyuid": "not usable", "restricted-v2": "admits it"}
    assert "spec.containers[0].securityContext.runAsUser" in result.output
    assert "1000680000" in result.output


def test_what_would_admit_it(tmp_path: Path) -> None:
    """Prevents a refusal that leaves its reader to try a dozen SCCs, the widest of them first."""
    pod = {**PLAIN, "spec": {"serviceAccountName": "web", **PLAIN["spec"], "securityContext": {"runAsUser": 5}}}  # type: ignore[dict-item]
    path = write(tmp_path / "pod.yaml", pod, NAMESPACE)
    result = explain(path)
    assert "would be admitted by: nonroot-v2, nonroot, " in result.output
    assert "if account adas/web might use it" in result.output
    assert "oc adm policy add-scc-to-user nonroot-v2 -z web -n adas" in result.output
    (found,) = verdicts(path)
    assert found["wouldAdmitIfUsable"][:2] == ["nonroot-v2", "nonroot"]
    for name in ("anyuid", "privileged"):
        assert name in found["wouldAdmitIfUsable"]
        assert verdicts(path, "--usable", name)[0]["scc"] == name
    assert "restricted" not in found["wouldAdmitIfUsable"]


def test_what_nothing_would_admit(tmp_path: Path) -> None:
    """Prevents advice to grant an SCC to a pod that requires one which does not exist."""
    spec = {**PLAIN["spec"], "securityContext": {"sysctls": [{"name": "kernel.x"}]}}  # type: ignore[dict-item]
    path = write(tmp_path / "pod.yaml", {**PLAIN, "spec": spec}, NAMESPACE, {**MPI, "metadata": {"name": "restricted"}})
    assert "would be admitted by no other SCC here" in explain(path).output
    lost = {**PLAIN, "metadata": {**PLAIN["metadata"], "annotations": {"openshift.io/required-scc": "lost"}}}  # type: ignore[dict-item]
    output = explain(write(tmp_path / "lost.yaml", lost, NAMESPACE)).output
    assert 'failed to retrieve the required SCC "lost"' in output
    assert "would be admitted" not in output


def test_only_the_old_restricted_would_do(tmp_path: Path) -> None:
    """Prevents the hint on `restricted` from hiding that it is not usable."""
    spec = {"containers": [{"name": "main", "securityContext": {"allowPrivilegeEscalation": True}}]}
    path = write(tmp_path / "pod.yaml", {**POD, "spec": spec}, NAMESPACE)
    assert rows(explain(path).output)["restricted"] == "not usable"
    assert "no access to scc/restricted" in explain(path, "--verbose").output


@pytest.mark.parametrize(
    ("role", "release", "scc"),
    [
        ("system:openshift:scc:anyuid", "current", "anyuid"),
        ("system:openshift:scc:anyuid", "4.4", "restricted"),
        ("cluster-admin", "current", "anyuid"),
        ("view", "current", "restricted-v2"),
    ],
)
def test_roles_that_openshift_ships(tmp_path: Path, role: str, release: str, scc: str) -> None:
    """Prevents a refusal of what `oc adm policy add-scc-to-user` allowed: no file holds the role that it binds."""
    binding = {**BINDING, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}}
    path = write(tmp_path / "pod.yaml", PLAIN, NAMESPACE, binding)
    assert verdicts(path, "--service-account", "mpi", "--release", release)[0]["scc"] == scc


def test_a_role_that_is_elsewhere(tmp_path: Path) -> None:
    """Prevents a refusal that keeps silent about the one file that was not given."""
    result = explain(write(tmp_path / "pod.yaml", POD, NAMESPACE, BINDING), "--service-account", "mpi")
    assert "note: the account is bound to Role mpi, which is not among the files" in result.output


def test_seccomp_is_named_by_its_field(tmp_path: Path) -> None:
    """Prevents a hunt for an annotation that the file does not hold."""
    profile = {"seccompProfile": {"type": "RuntimeDefault"}}
    path = write(tmp_path / "pod.yaml", {**PLAIN, "spec": {**PLAIN["spec"], "securityContext": profile}}, NAMESPACE)  # type: ignore[dict-item]
    found = rows(explain(path, "--release", "4.4").output)
    assert found["restricted"] == (
        "spec.securityContext.seccompProfile: Forbidden: seccomp may not be set "
        "seccompProfile of container main: Forbidden: seccomp may not be set"
    )
    notes = {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}}
    old = {**PLAIN, "metadata": {**PLAIN["metadata"], **notes}}  # type: ignore[dict-item]
    assert "pod.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Forbidden" in (
        explain(write(tmp_path / "old.yaml", old, NAMESPACE), "--release", "4.4").output
    )


@pytest.mark.parametrize("name", ["kube-system", "default", "mine"])
def test_namespaces_without_admission(tmp_path: Path, name: str) -> None:
    """Prevents a refusal of a pod that OpenShift asks no SCC about."""
    labels = {"openshift.io/run-level": "0"} if name == "mine" else {}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    path = write(tmp_path / "pod.yaml", POD, namespace)
    result = explain(path, "--namespace", name)
    assert result.exit_code == 0
    assert f"OpenShift asks no SCC in {name}" in result.output
    (found,) = verdicts(path, "--namespace", name)
    assert (found["exempt"], found["scc"], found["filledIn"]) == (True, None, {})


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
    """Prevents ids that are made up in silence where nobody said which the namespace has."""
    pod = write(tmp_path / "pod.yaml", PLAIN)
    field = "spec.containers[0].securityContext.runAsUser"
    given = [part for key, value in IDS.items() for part in ("--annotation", f"{key}={value}")]
    for arguments, examples, user in (
        ([], {"openshift.io/sa.scc.uid-range", "openshift.io/sa.scc.mcs"}, 1000000000),
        (given[:2], {"openshift.io/sa.scc.mcs"}, 1000680000),
        (given, set(), 1000680000),
    ):
        (found,) = verdicts("-f", pod, *arguments)
        assert (set(found["examples"]), found["filledIn"][field]) == (examples, user)
        assert ("are examples" in explain("-f", pod, *arguments).output) is bool(examples)


def test_a_namespace_that_openshift_has_not_annotated_yet(tmp_path: Path) -> None:
    """Prevents the refusal of every pod of a new project, which has no ids until OpenShift writes them."""
    bare = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "adas"}}
    (found,) = verdicts(write(tmp_path / "pod.yaml", PLAIN, bare))
    assert (found["scc"], len(found["examples"])) == ("restricted-v2", 2)
    asking = {**PLAIN, "spec": {**PLAIN["spec"], "securityContext": {"runAsUser": 1000700005}}}  # type: ignore[dict-item]
    path = write(tmp_path / "asking.yaml", asking, bare)
    assert "would be admitted by restricted-v2 if adas had the ids that it asks for" in explain(path).output
    given = ("--annotation", "openshift.io/sa.scc.uid-range=1000000000/10000")
    assert verdicts(path)[0]["wouldAdmitWithItsIds"] == "restricted-v2"
    assert verdicts(path, *given)[0]["wouldAdmitWithItsIds"] is None


def test_a_pod_without_a_namespace(tmp_path: Path) -> None:
    """Prevents the verdict of `default`, where no SCC is asked, for a pod that will be applied elsewhere."""
    pod = {**POD, "metadata": {"name": "worker"}}
    result = explain(write(tmp_path / "pod.yaml", pod))
    assert result.exit_code == 1
    assert "note: no namespace is named" in result.output


def test_the_launchers_of_2020_have_accounts_of_their_own(tmp_path: Path) -> None:
    """Prevents a launcher judged by the rights of the workers' account, which its operator replaces."""
    template = {"template": {"spec": {"serviceAccountName": "mpi", **PLAIN["spec"]}}}  # type: ignore[dict-item]
    for version, launcher in (("v1alpha2", "nccl-launcher"), ("v1", "nccl-launcher"), ("v2beta1", "mpi")):
        job = {
            "apiVersion": f"kubeflow.org/{version}",
            "kind": "MPIJob",
            "metadata": {"name": "nccl", "namespace": "adas"},
            "spec": {"mpiReplicaSpecs": {"Launcher": template, "Worker": template}},
        }
        found = verdicts(write(tmp_path / "job.yaml", job, NAMESPACE))
        assert [each["serviceAccount"] for each in found] == [launcher, "mpi"]


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
        (["-", "--usable", "nosuch"], "--usable nosuch: there is no such SCC; there are anyuid, "),
    ],
)
def test_wrong_arguments(arguments: list[str], said: str) -> None:
    """Prevents a traceback where a name was mistyped, and a verdict that leaves the mistyped word out."""
    result = explain(*arguments, stdin=yaml.safe_dump_all([PLAIN, NAMESPACE]))
    assert result.exit_code == 2
    assert result.output.startswith("error: ")
    assert said in result.output


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
