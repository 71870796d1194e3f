"""Files in, findings with their places out: all at once, sorted, and whatever the files are."""

import json
from datetime import date
from pathlib import Path

import pytest

from policies.check import Checker
from policies.exceptions import RuleException
from policies.manifests.objects import Obj
from policies.rule import Severity
from policies.rules import RULES
from tests.toolkit.cli.check.samples import CHECKER, RULE, TODAY, examined, manifest
from toolkit.cli.check.data_reports import REPORTS, Format
from toolkit.cli.check.examination import Result, examine
from toolkit.cli.check.sources import Source


def _places(result: Result) -> list[tuple[str, int, int]]:
    return [(each.file, each.line, each.column) for each in result.findings]


def test_line_and_column_of_the_field() -> None:
    """A finding has the line and column of its field, in any document of a file."""
    result = examined(b=f"# head\n---\na: 1\n---\n{manifest()}", a=manifest())
    assert _places(result) == [("a", 9, 11), ("b", 13, 11)]
    assert [(note.file, note.line) for note in result.notes] == [("b", 3)]
    assert (result.files, result.objects, result.pods) == (2, 2, 2)


def test_lists_are_opened() -> None:
    """Items of a List are examined and located."""
    items = "".join(
        f"  - {line}" if number == 0 else f"    {line}"
        for number, line in enumerate(manifest().splitlines(keepends=True))
    )
    result = examined(f=f"apiVersion: v1\nkind: List\nitems:\n  - {{apiVersion: v1, kind: Namespace}}\n{items}")
    assert _places(result) == [("f", 13, 15)]
    assert result.objects == 2


def test_templates_of_openshift_are_opened() -> None:
    """Objects of a Template are examined and located; parameters without value are unknown."""
    pod = manifest().replace("x}", '"${X}"}').replace(": 2", ": ${N}").splitlines(keepends=True)
    items = "".join(f"  - {line}" if number == 0 else f"    {line}" for number, line in enumerate(pod))
    head = "apiVersion: template.openshift.io/v1\nkind: Template\n"
    known = f"parameters: [{{name: X, value: x}}, {{name: N, value: '2'}}]\nobjects:\n{items}"
    result = examined(f=f"{head}{known}")
    assert _places(result) == [("f", 13, 15)]
    assert result.findings[0].finding.object == "Pod x"
    (found,) = examined(f=f"{head}objects:\n{items}").findings
    assert found.finding.undetermined is not None


def test_nothing_in_a_file_is_unknown_until_an_update() -> None:
    """What a Template leaves open is not known, whichever rule needs it; no update decides it."""
    quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: a}, spec: {hard: ${HARD}}}"
    pod = (
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a}, spec: {containers: "
        "[{name: c, image: q/x:1, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
    )
    head = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects:\n"
    text = f"{head}- {quota.replace('${HARD}', chr(34) + '${HARD}' + chr(34))}\n- {pod}\n"
    result = examine([Source("f", text.encode())], Checker(RULES), today=TODAY)
    messages = [each.finding.message for each in result.findings]
    assert any("the quota for nvidia.com/gpu is not known" in message for message in messages), messages
    assert not any("until the update" in message for message in messages)


def test_broken_files_do_not_stop_the_others() -> None:
    """An unreadable document does not hide the findings of others."""
    result = examined(a=f"a: b: c\n---\n{manifest()}---\n}}\n", b=manifest())
    assert _places(result) == [("a", 11, 11), ("b", 9, 11)]
    assert [(each.file, each.line, each.column) for each in result.problems] == [("a", 1, 5), ("a", 13, 1)]


def test_templates_are_named() -> None:
    """A Helm template that is not rendered is reported as one."""
    (problem,) = examined(f="kind: Pod\n{{- if .Values.x }}\na: 1\n{{- end }}\n").problems
    assert "helm template" in problem.message
    assert problem.line == 2
    (problem,) = examined(f="kind: Pod\na: {{ .Values.x }}\n").problems
    assert "helm template" in problem.message


def _rendered(text: str) -> Result:
    return examine([Source("f", text.encode())], Checker(RULES), today=TODAY)


JOB = """apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: adas}}
spec:
  parallelism: {count}
  template:
    spec:
      containers:
        - name: c
          image: {image}
          command: [bash, -c, "torchrun --nproc-per-node $GPUS train.py"]
          resources:
            limits:
              nvidia.com/gpu: {count}
"""


@pytest.mark.parametrize(
    ("name", "count", "image", "tool"),
    [
        ("$NAME", "$GPUS", "${IMAGE}:1", "envsubst"),
        ("train", "${GPUS:-8}", "quay.io/x/y:1", "envsubst"),
        ("train", '"{{ gpus }}"', '"{{ registry }}/y:1"', "helm template"),
    ],
)
def test_variables_of_a_template_are_reported_once(name: str, count: str, image: str, tool: str) -> None:
    """Values that nothing has filled in are one problem of the file, and no rule reports them; others are judged."""
    text = JOB.format(name=name, count=count, image=image)
    result = _rendered(f"{text}---\n{text}")
    (problem,) = result.problems
    assert (problem.line, f"`{tool}`" in problem.message) == (3 if name == "$NAME" else 5, True)
    assert {each.finding.rule for each in result.findings if each.finding.undetermined} <= {"gpu-quota"}
    assert not {"image-pinned", "gpu-limit", "known-fields"} & {each.finding.rule for each in result.findings}
    assert "drop-all-capabilities" in {each.finding.rule for each in result.findings}


def test_a_variable_with_braces_in_a_list_with_brackets_is_named() -> None:
    """A variable that makes a text unreadable is reported as one, at its place."""
    (problem,) = examined(f="kind: Pod\na: {b: 1, c: ${COUNT}}\n").problems
    assert (problem.line, problem.column) == (2, 14)
    assert "is a template that is not rendered (${COUNT}): check what `envsubst`" in problem.message


def test_what_shells_and_controllers_fill_in_is_no_template() -> None:
    """Variables in commands, in workflows of Argo, and in names of roles are values as they are written."""
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "w", "namespace": "adas"},
        "spec": {"templates": [{"name": "t", "container": {"name": "c", "image": "{{inputs.parameters.image}}"}}]},
    }
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "${ROLE}"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    }
    text = JOB.format(name="train", count="8", image="quay.io/x/y:1")
    result = _rendered("---\n".join((text, json.dumps(workflow) + "\n", json.dumps(role))))
    assert result.problems == []
    assert "ClusterRole ${ROLE}" in {each.finding.object for each in result.findings}


@pytest.mark.parametrize(
    "value", ['"node {{ $labels.instance }} is down"', "|\n    {{ .Values.x }}\n    {{- end }}"], ids=["text", "block"]
)
def test_templates_within_texts_hide_no_error(value: str) -> None:
    """A template within a text does not hide a syntax error after it."""
    (problem,) = examined(f=f"kind: Pod\na:\n  summary: {value}\n  expr: up\n   for: 5m\n").problems
    assert "a field below a value; begin it in the column of its neighbours" in problem.message
    assert problem.line == 5 + value.count("\n")


def test_duplicate_keys_are_reported() -> None:
    """A duplicate key is a problem with its line."""
    (problem,) = examined(f="apiVersion: v1\nkind: Pod\nspec: {}\nspec: {containers: []}\n").problems
    assert (problem.line, problem.message) == (4, "the key spec is a duplicate")


def test_duplicate_keys_of_other_files_are_not() -> None:
    """Duplicate keys in files that are not manifests are ignored."""
    result = examined(f="a: 1\na: !Ref x\n", g=manifest())
    assert result.problems == []
    assert "was not checked" in result.notes[0].message


def test_exceptions() -> None:
    """Exceptions apply until their last day, and are findings afterwards."""
    files = [Source("f", manifest().encode())]
    entry = RuleException(rule=RULE, object="Pod x", reason="known since the start", expires=TODAY)
    assert examine(files, CHECKER, exempt=[entry], today=TODAY).findings == []
    late = examine(files, CHECKER, exempt=[entry.at("g", 7)], today=date(2026, 6, 2))
    assert [each.finding.rule for each in late.findings] == [RULE, "exceptions"]
    assert _places(late)[1] == ("g", 7, 1)
    advice = examine(files, CHECKER, exempt=[entry], ended=Severity.ADVISORY, today=date(2026, 6, 2))
    assert {each.finding.severity for each in advice.findings} == {Severity.MANDATORY, Severity.ADVISORY}
    assert len(examine(files, CHECKER, exempt=[entry], ended=None, today=date(2026, 6, 2)).findings) == 1
    elsewhere = entry.model_copy(update={"object": "Job */of-another-stack*"})
    assert [
        each.finding.rule for each in examine(files, CHECKER, exempt=[elsewhere], today=date(2026, 6, 2)).findings
    ] == [RULE]


def test_exceptions_are_counted_and_missed() -> None:
    """Excepted findings are counted; with --complete, exceptions for examined objects that match none are listed."""
    files = [Source("f", manifest().encode())]
    used, idle = (
        RuleException(rule=RULE, object=name, reason="known since the start", expires=TODAY).at("g", line)
        for line, name in enumerate(("Pod x, main", "Pod x, other"), start=1)
    )
    elsewhere = used.model_copy(update={"object": "Job */of-another-stack*"})
    disabled = RuleException(rule="gpu-limit", object="Pod y", reason="known since the start", expires=TODAY)
    result = examine(files, CHECKER, exempt=[used, idle, disabled, elsewhere], complete=True, today=TODAY)
    assert (result.findings, result.excepted) == ([], 1)
    ((file, line, message),) = ((each.file, each.line, each.message) for each in result.notes)
    assert (file, line, "Pod x, other" in message) == ("g", 2, True)
    assert examine(files, CHECKER, exempt=[used, idle], today=TODAY).notes == []
    assert "1 excepted" in REPORTS[Format.TEXT](result)
    assert json.loads(REPORTS[Format.JSON](result))["summary"]["excepted"] == 1


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "---\n---\n", "[]", "{apiVersion: v1, kind: List, items: []}", "a: 1"]
)
def test_nothing_to_check_is_a_problem(text: str) -> None:
    """Input without objects is a problem, as from a chart that failed to render."""
    (problem,) = examined(f=text).problems
    assert "nothing was checked" in problem.message
    assert examined(f=text, g=manifest()).problems == []


def test_entries_that_are_no_objects_are_reported() -> None:
    """Entries of a List that are not objects are noted."""
    (note,) = examined(f="apiVersion: v1\nkind: List\nitems: [{a: 1}, {b: 1}, {apiVersion: v1, kind: Namespace}]").notes
    assert "3 entries, 2 of them" in note.message


def test_items_of_a_typed_list() -> None:
    """Items of a typed list are located."""
    pod = "".join(f"    {line}" for line in manifest().splitlines(keepends=True)[2:])
    assert _places(examined(f=f"apiVersion: v1\nkind: PodList\nitems:\n  -\n{pod}")) == [("f", 11, 15)]


def test_context_gives_the_other_ends() -> None:
    """Context objects resolve links, are not examined, and yield to objects in the files."""
    checker = Checker([rule for rule in RULES if rule.name == "gpu-quota"])
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: a}\n"
    pod += "spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 4}}}]}\n"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}}

    def found(hard: int, text: str = pod) -> int:
        other = Obj({**quota, "spec": {"hard": {"requests.nvidia.com/gpu": hard}}})
        return len(examine([Source("f", text.encode())], checker, context=[other], complete=True, today=TODAY).findings)

    assert (found(8), found(2)) == (0, 1)
    own = f"{pod}---\n{json.dumps({**quota, 'spec': {'hard': {'requests.nvidia.com/gpu': 8}}})}\n"
    assert found(2, own) == 0


def test_a_rule_that_fails_hides_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A rule that raises is a problem of its object with the path of its traceback, and hides no other finding."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def broken(self: Checker, subjects: list[Obj], inventory: object) -> object:
        if subjects[0].name == "x":
            raise KeyError("y")
        return check(self, subjects, inventory)  # type: ignore[arg-type]

    check = Checker.check
    monkeypatch.setattr(Checker, "check", broken)
    result = examined(f=f"{manifest('x')}---\n{manifest('z')}")
    assert len(result.findings) == 1
    message, log = result.problems[0].message, tmp_path / "hpc/logs/faults.log"
    assert message.endswith(f"a fault of ./hpc, KeyError: 'y'; its traceback is in {log}")
    assert "in broken" in log.read_text()
