"""Admission of the pod templates among the objects: what counts, what is computed once, where a finding points."""

from typing import Any

import pytest

from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, Unknown
from policies.scc import Verdict, admit
from policies.views import admission as subject
from policies.views.admission import Admission, Outcome, admission_part, freed, hidden, pruned

LOCK = {"name": "c", "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}
SCC = {"apiVersion": "security.openshift.io/v1", "kind": "SecurityContextConstraints", "metadata": {"name": "mine"}}


def _job(name: str = "test", unknown: tuple[Path, ...] = (), **spec: Any) -> Obj:
    tree = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "adas"},
        "spec": {"template": {"spec": {"containers": [{"name": name, "image": name}], **spec}}},
    }
    return Obj(tree, unknown=tuple(map(Unknown, unknown)))


def _outcome(job: Obj, *others: dict[str, Any], account: str = "mpi") -> Outcome:
    inventory = Inventory([job, *map(Obj, others)])
    return Admission(inventory, "current").of(job.pods[0], "adas", account)[0]


def test_equal_demands_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods that differ only in name, image and labels are judged once."""
    calls = []

    def counted(*arguments: Any, **more: Any) -> Verdict:
        calls.append(arguments)
        return admit(*arguments, **more)

    monkeypatch.setattr(subject, "admit", counted)
    jobs = [_job(f"job-{number}", nodeSelector={"n": str(number)}) for number in range(50)]
    judge = Admission(Inventory(jobs), "current")
    assert {judge.of(job.pods[0], "adas", "mpi")[0] for job in jobs} == {Outcome()}
    assert len(calls) == 1
    judge.of(_job(containers=[LOCK]).pods[0], "adas", "mpi")
    judge.of(jobs[0].pods[0], "perception", "mpi")
    assert len(calls) == 1 + 2 + 1, "a refusal is looked at once more without ids; another namespace is another matter"


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"containers": [LOCK]}, ("containers", 0, "securityContext", "capabilities", "add")),
        ({"hostNetwork": True}, ("hostNetwork",)),
        ({"initContainers": [{"securityContext": {"privileged": True}}]}, ("initContainers", 0)),
        ({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "h", "hostPath": {}}]}, ("volumes", 1)),
        ({"containers": [{"name": "c", "ports": [{"hostPort": 1}]}]}, ("containers", 0, "ports")),
        ({"securityContext": {"fsGroup": 1}}, ("securityContext", "fsGroup")),
        ({"securityContext": {"sysctls": [{"name": "a"}]}}, ("securityContext", "sysctls", 0)),
    ],
)
def test_a_complaint_points_at_its_field(spec: dict[str, Any], place: Path) -> None:
    """A refusal is located at the field that causes it."""
    outcome = _outcome(_job(**spec))
    assert outcome.message.startswith("unable to validate against any security context constraint: ")
    assert outcome.place[: len(place)] == place


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}, ("securityContext",)),
        (
            {
                "containers": [
                    {"name": "a"},
                    {"name": "b", "securityContext": {"seccompProfile": {"type": "Unconfined"}}},
                ]
            },
            ("containers", 1, "securityContext"),
        ),
    ],
)
def test_a_complaint_about_an_annotation_points_at_the_field_that_it_came_from(
    spec: dict[str, Any], place: Path
) -> None:
    """A seccomp profile that release 4.4 reports as an annotation is located at its field."""
    outcome = Admission(Inventory([_job()]), "4.4").of(_job(**spec).pods[0], "adas", "mpi")[0]
    assert outcome.place == (*place, "seccompProfile")
    assert "is the field seccompProfile" in outcome.message


def test_an_annotation_that_was_written_is_no_field() -> None:
    """A refusal about an annotation that the pod itself has is not located at a field."""
    job = _job()
    job.tree["spec"]["template"]["metadata"] = {
        "annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    }
    outcome = Admission(Inventory([job]), "4.4").of(Obj(job.tree).pods[0], "adas", "mpi")[0]
    assert outcome.place == ()
    assert outcome.message.endswith("seccomp may not be set]")


def test_an_scc_of_wrong_types_is_left_out() -> None:
    """A malformed SCC refuses no pod."""
    for broken in ({"runAsUser": {"type": "Anybody"}}, {"allowHostIPC": "no"}, {"volumes": {"a": 1}}):
        assert _outcome(_job(), {**SCC, **broken}) == Outcome()


def test_the_account_of_an_scc_and_no_other() -> None:
    """An SCC is usable through its users and its groups, each matched as what it is."""
    strategies = {key: {"type": "RunAsAny"} for key in ("runAsUser", "seLinuxContext", "fsGroup", "supplementalGroups")}
    mine = {**SCC, **strategies, "allowedCapabilities": ["IPC_LOCK"], "volumes": ["*"]}
    job = _job(containers=[LOCK])
    assert _outcome(job, {**mine, "users": ["system:serviceaccount:adas:mpi"]}) == Outcome()
    assert _outcome(job, {**mine, "groups": ["system:serviceaccounts:adas"]}) == Outcome()
    assert _outcome(job, {**mine, "groups": ["system:authenticated"]}) == Outcome()
    for nobody in (
        {"users": [""]},
        {"groups": ["system:serviceaccount:adas:mpi"]},
        {"users": ["system:authenticated"]},
    ):
        assert _outcome(job, {**mine, **nobody}).message


def test_only_ids_are_the_namespaces_matter() -> None:
    """Root or a capability is not excused by the ids that another namespace would have."""
    assert _outcome(_job(securityContext={"runAsUser": 5})).elsewhere == Outcome()
    for more in ({"runAsUser": 5}, {}):
        elsewhere = _outcome(_job(securityContext=more, containers=[LOCK])).elsewhere
        assert elsewhere is not None
        assert "IPC_LOCK" in elsewhere.message
        assert "must be in the ranges" not in elsewhere.message
    assert _outcome(_job(securityContext={"runAsUser": 0})).elsewhere != Outcome()


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        (("spec",), True),
        (("spec", "template", "spec", "containers"), True),
        (("spec", "template", "spec", "containers", 0), True),
        (("spec", "template", "spec", "containers", 0, "securityContext", "privileged"), True),
        (("spec", "template", "spec", "containers", 0, "ports", 0, "hostPort"), True),
        (("spec", "template", "spec", "volumes", 0), True),
        (("spec", "template", "spec", "volumes", 0, "hostPath"), True),
        (("spec", "template", "spec", "volumes", 0, "projected", "sources"), True),
        (("spec", "template", "metadata", "annotations"), True),
        (("spec", "template", "metadata", "annotations", "openshift.io/required-scc"), True),
        (("spec", "template", "metadata", "annotations", "checksum"), False),
        (("spec", "template", "spec", "volumes", 0, "name"), False),
        (("spec", "template", "spec", "volumes", 0, "configMap", "name"), False),
        (("spec", "template", "spec", "containers", 0, "image"), False),
        (("spec", "template", "spec", "containers", 0, "ports", 0, "containerPort"), False),
        (("spec", "template", "spec", "nodeSelector"), False),
        (("spec", "backoffLimit"), False),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else str(value),
)
def test_which_unknown_values_count(path: Path, counts: bool) -> None:
    """Unknown values are undetermined only where admission reads them."""
    assert bool([*hidden(_job(unknown=(path,)).pods[0])]) is counts


def test_names_of_containers_count_where_an_annotation_names_them() -> None:
    """An annotation for one container counts for that container."""
    plain = _job(containers=[LOCK])
    assert "name" not in admission_part(plain.pods[0])["spec"]["containers"][0]
    tree = {**plain.tree, "spec": {"template": {**plain.tree["spec"]["template"]}}}
    annotations = {"container.seccomp.security.alpha.kubernetes.io/c": "unconfined", "other": "1"}
    tree["spec"]["template"]["metadata"] = {"annotations": annotations}
    found = admission_part(Obj(tree).pods[0])
    assert found["spec"]["containers"][0]["name"] == "c"
    assert found["metadata"]["annotations"].keys() == annotations.keys() - {"other"}


def test_pruned_and_freed_leave_the_rest() -> None:
    """Known values beside unknown ones are read."""
    tree = {"a": Unknown(("a",)), "b": [Unknown(("b", 0)), 1, None], 3: "three", "runAsUser": 5}
    assert pruned(tree) == {"b": [1], "runAsUser": 5}
    fields = ("runAsUser", "fsGroup")
    assert freed({"runAsUser": 5, "b": [{"fsGroup": 1, "level": "s0"}]}, fields) == {"b": [{"level": "s0"}]}
    assert freed({"runAsUser": 0}, fields) == {"runAsUser": 0}
