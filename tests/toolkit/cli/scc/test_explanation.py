"""`./hpc scc explain`: which SCC takes a pod, and what is printed of that."""

from pathlib import Path

import pytest

from tests.support.messages import has
from tests.toolkit.cli.scc.samples import (
    BINDING,
    IDS,
    MPI,
    NAMESPACE,
    PLAIN,
    POD,
    RBAC,
    ROLE,
    SPEC,
    explain,
    verdicts,
    write,
)


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
    """A refusal has status 1, and a row of reasons for each SCC, without repetition."""
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


def test_a_complaint_about_the_pod_is_reported_once(tmp_path: Path) -> None:
    """A fault of the pod is printed once, not again for each container."""
    containers = [{"name": "a"}, {"name": "b", "ports": [{"containerPort": 9100, "hostPort": 9100}]}]
    path = write(tmp_path / "pod.yaml", {**POD, "spec": {"hostPID": True, "containers": containers}}, NAMESPACE)
    assert rows(explain(path).output)["restricted-v2"] == (
        "spec.hostPID: Invalid value: true: Host PID is not allowed to be used "
        "containers[1].hostPort: Invalid value: 9100: Host ports are not allowed to be used"
    )


def test_pods_inside_other_objects(tmp_path: Path) -> None:
    """A pod inside another object is explained, and what that object's controller fills in decides nothing."""
    spec = {"hostPID": "{{inputs.parameters.pid}}", "hostIPC": True, "containers": [{"name": "a"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "inner", "namespace": "adas"}, "spec": spec}
    work = {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "spec": {"manifests": [pod]}}
    found = rows(explain(write(tmp_path / "work.yaml", work, NAMESPACE)).output)
    assert found["restricted-v2"] == "spec.hostIPC: Invalid value: true: Host IPC is not allowed to be used"


def test_verbose(tmp_path: Path) -> None:
    """With --verbose the message is OpenShift's own."""
    result = explain(write(tmp_path / "pod.yaml", NAMESPACE, POD), "--verbose")
    assert 'pods "worker" is forbidden: unable to validate against any security context constraint: [' in result.output
    assert 'provider "privileged": Forbidden: not usable by user or serviceaccount' in result.output


def test_admitted(tmp_path: Path) -> None:
    """The table has every SCC that was tried, and what the SCC that admits the pod fills in."""
    result = explain("-f", write(tmp_path / "pod.yaml", PLAIN, NAMESPACE))
    assert result.exit_code == 0, result.output
    assert "admitted by restricted-v2" in result.output
    assert rows(result.output) == {"anyuid": "not usable", "restricted-v2": "admits it"}
    assert "spec.containers[0].securityContext.runAsUser" in result.output
    assert "1000680000" in result.output


def test_what_would_admit_it(tmp_path: Path) -> None:
    """A refusal names the SCCs that would admit the pod, the narrowest first, and the command that grants it."""
    pod = {**PLAIN, "spec": {"serviceAccountName": "web", **PLAIN["spec"], "securityContext": {"runAsUser": 5}}}
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


@pytest.mark.parametrize(
    ("context", "options", "changes"),
    [
        ({"capabilities": {"add": ["IPC_LOCK"]}}, (), "restricted-v2 with allowedCapabilities: [IPC_LOCK] ("),
        (
            {"runAsUser": 101, "capabilities": {"add": ["SYS_PTRACE", "PERFMON"]}},
            ("--release", "4.4"),
            "restricted with allowedCapabilities: [PERFMON, SYS_PTRACE]; runAsUser: {type: MustRunAs, uid: 101} (",
        ),
    ],
)
def test_the_least_scc_goes_before_privileged(
    tmp_path: Path, context: dict[str, object], options: tuple[str, ...], changes: str
) -> None:
    """A pod that only privileged would admit is offered an SCC with just what it asks for, which does admit it."""
    pod = {**PLAIN, "spec": {"containers": [{"name": "c", "securityContext": context}]}}
    path = write(tmp_path / "pod.yaml", pod, NAMESPACE)
    output = explain(path, *options).output
    assert f"would be admitted by an SCC of its own, {changes}" in output
    assert "privileged would admit it, too" in output
    (found,) = verdicts(path, *options)
    least = found["leastScc"]
    again = write(tmp_path / "again.yaml", pod, NAMESPACE, least)
    assert verdicts(again, *options, "--usable", least["metadata"]["name"])[0]["admitted"]


def test_a_field_that_is_in_the_way_is_named_first(tmp_path: Path) -> None:
    """A field without which a usable SCC admits a pod is named: restricted of 4.4 knows no seccomp profile."""
    context = {"seccompProfile": {"type": "RuntimeDefault"}}
    pod = {**PLAIN, "spec": {**PLAIN["spec"], "securityContext": context}}
    path = write(tmp_path / "pod.yaml", pod, NAMESPACE)
    output = explain(path, "--release", "4.4").output
    hint = "would be admitted by restricted without spec.securityContext.seccompProfile: delete it"
    assert 0 < output.index(hint) < output.index("privileged would")
    assert verdicts(path, "--release", "4.4")[0]["wouldAdmitWithout"] == ["spec.securityContext.seccompProfile"]
    assert verdicts(path)[0]["wouldAdmitWithout"] == []


def test_an_annotation_that_is_in_the_way_is_named(tmp_path: Path) -> None:
    """A seccomp profile by its old annotation is named as the field is, and the least SCC allows just that profile."""
    key = "seccomp.security.alpha.kubernetes.io/pod"
    pod = {**PLAIN, "metadata": {**PLAIN["metadata"], "annotations": {key: "runtime/default"}}}
    (found,) = verdicts(write(tmp_path / "pod.yaml", pod, NAMESPACE), "--release", "4.4")
    assert found["wouldAdmitWithout"] == [f"metadata.annotations[{key}]"]
    assert found["leastScc"]["seccompProfiles"] == ["runtime/default"]


def test_nothing_less_than_privileged(tmp_path: Path) -> None:
    """A privileged container is offered no SCC of its own."""
    spec = {"containers": [{"name": "c", "securityContext": {"privileged": True}}]}
    output = explain(write(tmp_path / "pod.yaml", {**PLAIN, "spec": spec}, NAMESPACE)).output
    assert "of its own" not in output
    assert "would be admitted by: privileged" in output


def test_what_nothing_would_admit(tmp_path: Path) -> None:
    """A pod that no SCC would admit, or that requires one that does not exist, gets no advice to grant one."""
    spec = {**PLAIN["spec"], "securityContext": {"sysctls": [{"name": "kernel.x"}]}}
    path = write(tmp_path / "pod.yaml", {**PLAIN, "spec": spec}, NAMESPACE, {**MPI, "metadata": {"name": "restricted"}})
    assert "would be admitted by no other SCC here" in explain(path).output
    lost = {**PLAIN, "metadata": {**PLAIN["metadata"], "annotations": {"openshift.io/required-scc": "lost"}}}
    output = explain(write(tmp_path / "lost.yaml", lost, NAMESPACE)).output
    assert 'failed to retrieve the required SCC "lost"' in output
    assert "would be admitted" not in output


def test_only_the_old_restricted_would_do(tmp_path: Path) -> None:
    """The SCC `restricted` is shown as not usable where the account may not use it."""
    spec = {"containers": [{"name": "main", "securityContext": {"allowPrivilegeEscalation": True}}]}
    path = write(tmp_path / "pod.yaml", {**POD, "spec": spec}, NAMESPACE)
    assert rows(explain(path).output)["restricted"] == "not usable"
    assert "no access to scc/restricted" in explain(path, "--verbose").output


@pytest.mark.parametrize(
    ("role", "release", "scc"),
    [
        ("system:openshift:scc:anyuid", "current", "anyuid"),
        ("system:openshift:scc:anyuid", "4.4", "restricted"),
    ],
)
def test_roles_that_openshift_ships(tmp_path: Path, role: str, release: str, scc: str) -> None:
    """Cluster roles that OpenShift ships for SCCs count, although no file has them."""
    binding = {**BINDING, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}}
    path = write(tmp_path / "pod.yaml", PLAIN, NAMESPACE, binding)
    assert verdicts(path, "--service-account", "mpi", "--release", release)[0]["scc"] == scc


def test_a_role_that_is_elsewhere(tmp_path: Path) -> None:
    """A binding to a role that no file has is named in a note."""
    result = explain(write(tmp_path / "pod.yaml", POD, NAMESPACE, BINDING), "--service-account", "mpi")
    assert has(result.output, "note", "Role mpi", "not among the files")


def test_seccomp_is_named_by_its_field(tmp_path: Path) -> None:
    """A refused seccomp profile is named by the field or annotation that the file has."""
    profile = {"seccompProfile": {"type": "RuntimeDefault"}}
    path = write(tmp_path / "pod.yaml", {**PLAIN, "spec": {**PLAIN["spec"], "securityContext": profile}}, NAMESPACE)
    found = rows(explain(path, "--release", "4.4").output)
    assert found["restricted"] == (
        "spec.securityContext.seccompProfile: Forbidden: seccomp may not be set "
        "seccompProfile of container main: Forbidden: seccomp may not be set"
    )
    notes = {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}}
    old = {**PLAIN, "metadata": {**PLAIN["metadata"], **notes}}
    assert "pod.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Forbidden" in (
        explain(write(tmp_path / "old.yaml", old, NAMESPACE), "--release", "4.4").output
    )


@pytest.mark.parametrize("name", ["kube-system", "default", "mine"])
def test_namespaces_without_admission(tmp_path: Path, name: str) -> None:
    """Pods of exempt namespaces are admitted without an SCC."""
    labels = {"openshift.io/run-level": "0"} if name == "mine" else {}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    path = write(tmp_path / "pod.yaml", POD, namespace)
    result = explain(path, "--namespace", name)
    assert result.exit_code == 0
    assert has(result.output, "no SCC", name)
    (found,) = verdicts(path, "--namespace", name)
    assert (found["exempt"], found["scc"], found["filledIn"]) == (True, None, {})


def test_rbac_in_files(tmp_path: Path) -> None:
    """Roles and bindings of the files decide which SCCs an account may use."""
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
    """The rights of the user who creates the pod count, too."""
    pod = write(tmp_path / "pod.yaml", POD, NAMESPACE)
    assert not verdicts("-f", pod, "--user", "alice")[0]["admitted"]
    (found,) = verdicts("-f", pod, "--user", "root", "--group", "system:cluster-admins")
    assert (found["scc"], found["user"]) == ("privileged", "root")
    assert found["filledIn"]["metadata.annotations.security.openshift.io/validated-scc-subject-type"] == "user"


def test_releases(tmp_path: Path) -> None:
    """The SCCs are those of the release that is named."""
    pod = write(tmp_path / "pod.yaml", PLAIN, NAMESPACE)
    assert [verdicts("-f", pod, "--release", each)[0]["scc"] for each in ("4.4", "current")] == [
        "restricted",
        "restricted-v2",
    ]
    assert len(verdicts("-f", pod, "--release", "4.4")[0]["order"]) == 7


def test_the_sccs_of_a_cluster_stand_alone(tmp_path: Path) -> None:
    """SCCs from files replace the release's own: they may be a dump of a cluster."""
    restricted = {**MPI, "metadata": {"name": "restricted"}, "groups": ["system:authenticated"]}
    pod = write(tmp_path / "pod.yaml", POD, NAMESPACE, restricted)
    (found,) = verdicts("-f", pod)
    assert (found["order"], found["scc"]) == (["restricted"], "restricted")


def test_workloads(tmp_path: Path) -> None:
    """Pods of jobs and MPIJobs are judged by their templates."""
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
    """Ids that neither options nor files give are examples, and marked as such."""
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
    """A namespace without annotations gets example ids; for a pod with ids, those that would admit it are named."""
    bare = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "adas"}}
    (found,) = verdicts(write(tmp_path / "pod.yaml", PLAIN, bare))
    assert (found["scc"], len(found["examples"])) == ("restricted-v2", 2)
    asking = {**PLAIN, "spec": {**PLAIN["spec"], "securityContext": {"runAsUser": 1000700005}}}
    path = write(tmp_path / "asking.yaml", asking, bare)
    assert has(explain(path).output, "admitted by restricted-v2", "adas", "ids")
    given = ("--annotation", "openshift.io/sa.scc.uid-range=1000000000/10000")
    assert verdicts(path)[0]["wouldAdmitWithItsIds"] == "restricted-v2"
    assert verdicts(path, *given)[0]["wouldAdmitWithItsIds"] is None


def test_a_pod_without_a_namespace(tmp_path: Path) -> None:
    """A pod without a namespace is judged in one with SCC admission, with a note."""
    pod = {**POD, "metadata": {"name": "worker"}}
    result = explain(write(tmp_path / "pod.yaml", pod))
    assert result.exit_code == 1
    assert "note: no namespace is named" in result.output


def test_the_launchers_of_2020_have_accounts_of_their_own(tmp_path: Path) -> None:
    """Launchers of v1alpha2 and v1 are judged by the account that their operator creates."""
    template = {"template": {"spec": {"serviceAccountName": "mpi", **PLAIN["spec"]}}}
    for version, launcher in (("v1alpha2", "nccl-launcher"), ("v1", "nccl-launcher"), ("v2beta1", "mpi")):
        job = {
            "apiVersion": f"kubeflow.org/{version}",
            "kind": "MPIJob",
            "metadata": {"name": "nccl", "namespace": "adas"},
            "spec": {"mpiReplicaSpecs": {"Launcher": template, "Worker": template}},
        }
        found = verdicts(write(tmp_path / "job.yaml", job, NAMESPACE))
        assert [each["serviceAccount"] for each in found] == [launcher, "mpi"]


def test_a_train_job_is_judged_with_its_runtime(tmp_path: Path) -> None:
    """A TrainJob has the pod of the runtime among the files; its title says where that is not among them."""
    api = "trainer.kubeflow.org/v1alpha1"
    job = {
        "apiVersion": api,
        "kind": "TrainJob",
        "metadata": {"name": "tune", "namespace": "adas"},
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"command": ["torchrun", "tune.py"]}},
    }
    locked = {"name": "node", "image": "x", "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}
    replicated = {"name": "node", "template": {"spec": {"template": {"spec": {"containers": [locked]}}}}}
    runtime = {
        "apiVersion": api,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"template": {"spec": {"replicatedJobs": [replicated]}}},
    }
    together = verdicts(write(tmp_path / "both.yaml", NAMESPACE, job, runtime))
    assert {found["pod"]: found["admitted"] for found in together}["TrainJob adas/tune"] is False
    (alone,) = verdicts(write(tmp_path / "alone.yaml", NAMESPACE, job))
    assert alone["admitted"]
    assert "without ClusterTrainingRuntime torch, which is not among the files" in alone["pod"]
