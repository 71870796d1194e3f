"""Files in, findings with their places out: all at once, sorted, and whatever the files are."""

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from cli.checking.examination import Result, examine
from cli.checking.reports import REPORTS, Format
from cli.checking.sources import Source, sources
from policies.check import Checker
from policies.exceptions import RuleException
from policies.findings import Severity
from policies.objects import Obj
from policies.rules import RULES
from policies.version import version

TODAY = date(2026, 6, 1)
RULE = "rdma-exactly-one"
CHECKER = Checker([rule for rule in RULES if rule.name == RULE])
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers:
    - name: main
      resources:
        limits:
          rdma/shared_ib0: 2
"""


def _pod(name: str = "x") -> str:
    return POD.replace("NAME", name)


def _check(**files: str) -> Result:
    return examine([Source(name, text.encode()) for name, text in files.items()], CHECKER, today=TODAY)


def _places(result: Result) -> list[tuple[str, int, int]]:
    return [(each.file, each.line, each.column) for each in result.findings]


def test_line_and_column_of_the_field() -> None:
    """A finding in the third document of a file, from which nobody finds the field."""
    result = _check(b=f"# head\n---\na: 1\n---\n{_pod()}", a=_pod())
    assert _places(result) == [("a", 9, 11), ("b", 13, 11)]
    assert [(note.file, note.line) for note in result.notes] == [("b", 3)]
    assert (result.files, result.objects, result.pods) == (2, 2, 2)


def test_lists_are_opened() -> None:
    """An object of a List that passes unchecked, or whose finding points at the head of the List."""
    items = "".join(
        f"  - {line}" if number == 0 else f"    {line}" for number, line in enumerate(_pod().splitlines(keepends=True))
    )
    result = _check(f=f"apiVersion: v1\nkind: List\nitems:\n  - {{apiVersion: v1, kind: Namespace}}\n{items}")
    assert _places(result) == [("f", 13, 15)]
    assert result.objects == 2


def test_templates_of_openshift_are_opened() -> None:
    """A parameter taken for a wrong value, or a finding that points at the head of the Template."""
    pod = _pod().replace("x}", '"${X}"}').replace(": 2", ": ${N}").splitlines(keepends=True)
    items = "".join(f"  - {line}" if number == 0 else f"    {line}" for number, line in enumerate(pod))
    head = "apiVersion: template.openshift.io/v1\nkind: Template\n"
    known = f"parameters: [{{name: X, value: x}}, {{name: N, value: '2'}}]\nobjects:\n{items}"
    result = _check(f=f"{head}{known}")
    assert _places(result) == [("f", 13, 15)]
    assert result.findings[0].finding.object == "Pod x"
    (found,) = _check(f=f"{head}objects:\n{items}").findings
    assert found.finding.doubt is not None


def test_broken_files_do_not_stop_the_others() -> None:
    """One typing error, and the faults of all other documents and files stay unknown."""
    result = _check(a=f"a: b: c\n---\n{_pod()}---\n}}\n", b=_pod())
    assert _places(result) == [("a", 11, 11), ("b", 9, 11)]
    assert [(each.file, each.line, each.column) for each in result.problems] == [("a", 1, 5), ("a", 13, 1)]


def test_templates_are_named() -> None:
    """`did not find expected node content` for a Helm template, which only rendering makes YAML."""
    (problem,) = _check(f="kind: Pod\n{{- if .Values.x }}\na: 1\n{{- end }}\n").problems
    assert "helm template" in problem.message
    assert problem.line == 2
    (problem,) = _check(f="kind: Pod\na: {{ .Values.x }}\n").problems
    assert "helm template" in problem.message


@pytest.mark.parametrize(
    "value", ['"node {{ $labels.instance }} is down"', "|\n    {{ .Values.x }}\n    {{- end }}"], ids=["text", "block"]
)
def test_templates_within_texts_hide_no_error(value: str) -> None:
    """`is a template` for a rule of Prometheus or a ConfigMap with a template in it, and nobody sees the slip below."""
    (problem,) = _check(f=f"kind: Pod\na:\n  summary: {value}\n  expr: up\n   for: 5m\n").problems
    assert "mapping values are not allowed" in problem.message
    assert problem.line == 5 + value.count("\n")


def test_duplicate_keys_are_told() -> None:
    """A second `resources:` that silently replaces the first."""
    (problem,) = _check(f="apiVersion: v1\nkind: Pod\nspec: {}\nspec: {containers: []}\n").problems
    assert (problem.line, problem.message) == (4, "the key spec stands here twice")


def test_duplicate_keys_of_other_files_are_not() -> None:
    """A file that is no manifest and fails the check for its own habits."""
    result = _check(f="a: 1\na: !Ref x\n", g=_pod())
    assert result.problems == []
    assert "was not checked" in result.notes[0].message


def test_exceptions() -> None:
    """An exception that is not looked at, or one that has ended and goes on holding."""
    files = [Source("f", _pod().encode())]
    entry = RuleException(rule=RULE, object="Pod x", reason="known since the start", expires=TODAY)
    assert examine(files, CHECKER, exempt=[entry], today=TODAY).findings == []
    late = examine(files, CHECKER, exempt=[entry.at("g", 7)], today=date(2026, 6, 2))
    assert [each.finding.rule for each in late.findings] == [RULE, "exceptions"]
    assert _places(late)[1] == ("g", 7, 1)
    advice = examine(files, CHECKER, exempt=[entry], ended=Severity.ADVISORY, today=date(2026, 6, 2))
    assert {each.finding.severity for each in advice.findings} == {Severity.MANDATORY, Severity.ADVISORY}
    assert len(examine(files, CHECKER, exempt=[entry], ended=None, today=date(2026, 6, 2)).findings) == 1


def test_exceptions_are_counted_and_missed() -> None:
    """An exception that silently covers more than was meant, or that covers nothing since its object is gone."""
    files = [Source("f", _pod().encode())]
    used, idle = (
        RuleException(rule=RULE, object=name, reason="known since the start", expires=TODAY).at("g", line)
        for line, name in enumerate(("Pod x, main", "Pod gone"), start=1)
    )
    disabled = RuleException(rule="gpu-limit", object="Pod y", reason="known since the start", expires=TODAY)
    result = examine(files, CHECKER, exempt=[used, idle, disabled], complete=True, today=TODAY)
    assert (result.findings, result.excepted) == ([], 1)
    ((file, line, message),) = ((each.file, each.line, each.message) for each in result.notes)
    assert (file, line, "Pod gone" in message) == ("g", 2, True)
    assert examine(files, CHECKER, exempt=[used, idle], today=TODAY).notes == []
    assert "1 excepted" in REPORTS[Format.TEXT](result)
    assert json.loads(REPORTS[Format.JSON](result))["summary"]["excepted"] == 1


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "---\n---\n", "[]", "{apiVersion: v1, kind: List, items: []}", "a: 1"]
)
def test_nothing_to_check_is_a_problem(text: str) -> None:
    """A chart that fails to render, `| ./hpc check -f -`, and a green light for it."""
    (problem,) = _check(f=text).problems
    assert "nothing was checked" in problem.message
    assert _check(f=text, g=_pod()).problems == []


def test_entries_that_are_no_objects_are_told() -> None:
    """Entries of a List that are dropped without a word."""
    (note,) = _check(f="apiVersion: v1\nkind: List\nitems: [{a: 1}, {b: 1}, {apiVersion: v1, kind: Namespace}]").notes
    assert "3 entries, 2 of them" in note.message


def test_items_of_a_typed_list() -> None:
    """`kubectl get --raw .../pods` and a finding whose line nobody finds."""
    pod = "".join(f"    {line}" for line in _pod().splitlines(keepends=True)[2:])
    assert _places(_check(f=f"apiVersion: v1\nkind: PodList\nitems:\n  -\n{pod}")) == [("f", 11, 15)]


def test_context_gives_the_other_ends() -> None:
    """Objects of the stack that are reported as if they stood in the files, or that win over them."""
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


def test_a_rule_that_fails_hides_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of one rule that ends the check of a thousand files with a traceback."""

    def broken(self: Checker, subjects: list[Obj], world: object) -> object:
        if subjects[0].name == "x":
            raise KeyError("y")
        return check(self, subjects, world)  # type: ignore[arg-type]

    check = Checker.check
    monkeypatch.setattr(Checker, "check", broken)
    result = _check(f=f"{_pod('x')}---\n{_pod('z')}")
    assert len(result.findings) == 1
    assert "a fault of this program: KeyError" in result.problems[0].message


def _tree(root: Path) -> None:
    for name in ("a.yaml", "b.yml", "c.json", "d.txt", ".hidden.yaml", "kustomization.yaml", "sub/e.yaml", "F.YAML"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("{}")
    for folder in (".git", "chart/templates"):
        (root / folder).mkdir(parents=True)
        (root / folder / "x.yaml").write_text("{}")
    (root / "chart" / "Chart.yaml").write_text("name: x")


def test_folders(tmp_path: Path) -> None:
    """Files of a folder that are passed by, read twice, or that are no manifests at all."""
    _tree(tmp_path)
    found = list(sources([str(tmp_path), str(tmp_path / "a.yaml")]))
    names = {os.path.relpath(each.name, tmp_path): bool(each.note) for each in found}
    assert len(names) == len(found)
    assert names == {
        "a.yaml": False,
        "b.yml": False,
        "c.json": False,
        "F.YAML": False,
        "sub/e.yaml": False,
        "kustomization.yaml": True,
        "chart": True,
    }


def test_patches_are_no_objects(tmp_path: Path) -> None:
    """A patch that is told to lack whatever its base has; or a file that passes since a patch is called like it."""
    (tmp_path / "overlay" / "sub").mkdir(parents=True)
    (tmp_path / "overlay" / "kustomization.yaml").write_text(
        "patches: [{path: a.yaml}, {patch: 'x: 1'}, null, {path: sub/b.yaml, target: {}}]\n"
        "patchesStrategicMerge:\n  - c.yaml\n  - |-\n    kind: Pod\n"
        "resources: [d.yaml]\n"
    )
    names = ("a.yaml", "sub/b.yaml", "c.yaml", "d.yaml", "sub/a.yaml", "E.YML")
    for name in names:
        (tmp_path / "overlay" / name).write_text(_pod())
    found = {os.path.relpath(each.name, tmp_path / "overlay"): each.note for each in sources([str(tmp_path)])}
    assert {name for name in names if "patch" in found[name]} == {"a.yaml", "sub/b.yaml", "c.yaml"}
    (alone,) = sources([str(tmp_path / "overlay" / "a.yaml")])
    assert "patch" in alone.note
    (tmp_path / "overlay" / "kustomization.yaml").write_text("patches: {{")
    (alone,) = sources([str(tmp_path / "overlay" / "a.yaml")])
    assert alone.content


def _outward(folder: Path) -> None:
    (folder / "out.yaml").symlink_to("/etc/hostname")


def _loop(folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    (folder / "self.yaml").symlink_to("self.yaml")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")


def _device(folder: Path) -> None:
    (folder / "zero.yaml").symlink_to("/dev/zero")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("make", [_outward, _loop, _pipe, _device])
def test_folders_hold_no_traps(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A link, a loop, a pipe or a device in a change, which shows another file or keeps the check for ever."""
    make(tmp_path)
    assert all(each.content == b"" and (each.problem or each.note) for each in sources([str(tmp_path)]))


def test_unreadable_names(tmp_path: Path) -> None:
    """A traceback for a file that is not there, or for a name that can be none."""
    found = list(sources([str(tmp_path / "nope"), "a\0b", "/dev/null", str(tmp_path)]))
    assert ["cannot be read" in each.problem for each in found] == [True, True, False, False]
    assert "not a file" in found[2].problem
    assert "has no *.yaml" in found[3].note


def test_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that fills the memory."""
    monkeypatch.setattr("cli.checking.sources.LARGEST", 2**20)
    (tmp_path / "f.yaml").write_bytes(b"#" * (2**20 + 1))
    (found,) = sources([str(tmp_path / "f.yaml")])
    assert "larger than" in found.problem
    assert found.content == b""


HOSTILE = _pod('"\\e[35m\\n::error::<x> & ]]> \\u2028\\"\'"') + "---\n}\n"


@pytest.mark.parametrize("form", list(Format))
def test_reports_of_hostile_names(form: Format) -> None:
    """Names out of other people's files that end an attribute, colour a terminal or begin a line of a log."""
    text = REPORTS[form](_check(**{"a\udc80<b>&\x1b": HOSTILE}))
    assert "\x1b[35m" not in text
    assert "\n::error::" not in text
    assert text.encode()


def _text(result: Result) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", REPORTS[Format.TEXT](result)).splitlines()


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # whatever the terminal is that the tests run in


def test_text_says_a_remedy_once_for_a_file() -> None:
    """The same two lines of advice a hundred times, among which nobody sees the findings."""
    lines = _text(_check(**{"f.yaml": f"{_pod()}---\n{_pod()}", "g.yaml": _pod()}))
    assert [line.partition("  ")[0] for line in lines if line] == [
        *("f.yaml", "f.yaml:9:11", "", "f.yaml:19:11", "g.yaml", "g.yaml:9:11", ""),
        lines[-1],
    ]
    messages = [line.index("Pod x") for line in lines if "Pod x" in line]
    assert messages[0] == messages[1]


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_text_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that the terminal breaks where it likes, or words that are lost where this does."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = _text(
        _check(**{"f.yaml": _pod("a " * 60), "folder/g.yaml": _pod(), "h.yaml": f"a: {'x' * 150} : 1", "i" * 30: "}"})
    )
    assert max(map(len, lines[:-1])) <= columns  # the summary is one line, for whoever reads the last one
    whole = " ".join(" ".join(lines).split())
    assert f"Pod {'a ' * 60}".strip() in whole
    assert "for more bandwidth ask for several different ones." in whole


def test_text_says_which_pod_of_a_job() -> None:
    """A finding about a launcher for which somebody mends the workers."""
    container = "{name: c, resources: {limits: {rdma/a: 2}}}"
    replica = f"{{template: {{spec: {{containers: [{container}]}}}}}}"
    job = f"spec: {{mpiReplicaSpecs: {{Launcher: {replica}, Worker: {replica}}}}}"
    lines = _text(_check(f=f"apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: []\n{job}\n"))
    assert [role for line in lines for role in ("Launcher", "Worker") if f"MPIJob (no name), {role}, c: " in line] == [
        "Launcher",
        "Worker",
    ]


def test_text() -> None:
    """A report from which an editor cannot jump to the place, or that does not say what to do."""
    lines = _text(_check(**{"f.yaml": _pod()}))
    assert lines[0] == "f.yaml"
    assert lines[1].startswith("f.yaml:9:11  mandatory  rdma-exactly-one  Pod x, main: asks for rdma/shared_ib0: 2")
    assert lines[2].startswith('    Write "1"')
    assert lines[-1] == "1 file, 1 object, 1 pod, 1 finding (1 mandatory, 0 advisory)"


def test_json() -> None:
    """A form that scripts read and that loses a field."""
    content = json.loads(REPORTS[Format.JSON](_check(**{"f.yaml": _pod() + "---\n}\n"})))
    assert content["version"] == 1
    assert content["summary"]["mandatory"] == content["summary"]["unreadable"] == 1
    (finding,) = content["findings"]
    assert (finding["rule"], finding["line"], finding["container"]) == (RULE, 9, "main")
    assert finding["path"][-1] == "rdma/shared_ib0"
    assert content["unreadable"][0]["line"] == 11


def test_sarif() -> None:
    """A document that a code host refuses, or whose findings are new again after every change above them."""
    (run,) = json.loads(REPORTS[Format.SARIF](_check(**{"a b.yaml": _pod()})))["runs"]
    driver = run["tool"]["driver"]
    assert driver["version"] == driver["semanticVersion"] == version()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version())
    rules = driver["rules"]
    (found,) = run["results"]
    assert rules[found["ruleIndex"]]["id"] == found["ruleId"] == RULE
    assert all("**Remedy**" in rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in rules)
    assert str(Path(__file__).parents[3]) not in json.dumps(run)
    place = found["locations"][0]["physicalLocation"]
    (absolute,) = json.loads(REPORTS[Format.SARIF](_check(**{str(Path.cwd() / "a b.yaml"): _pod()})))["runs"]
    assert absolute["results"][0]["locations"][0]["physicalLocation"] == place
    assert place == {"artifactLocation": {"uri": "a%20b.yaml"}, "region": {"startLine": 9, "startColumn": 11}}
    assert found["level"] == "error"
    (moved,) = json.loads(REPORTS[Format.SARIF](_check(**{"a b.yaml": f"# more\n{_pod()}"})))["runs"]
    assert moved["results"][0]["partialFingerprints"] == found["partialFingerprints"]


def test_junit() -> None:
    """XML that a parser refuses, or counts that do not agree with the cases."""
    root = ET.fromstring(REPORTS[Format.JUNIT](_check(f=_pod(), g=_pod() + "---\na: 1\n---\n}\n")))  # noqa: S314 - our own
    (suite,) = root
    cases = {case.get("name"): case for case in suite}
    assert int(suite.get("tests", "")) == len(cases) == len(RULES) + 1
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    failure = cases[RULE].find("failure")
    assert failure is not None
    assert "f:9:11" in (failure.text or "")
    assert cases["files-are-readable"].find("error") is not None
    notes = cases["files-are-readable"].findtext("system-out") or ""
    assert "g:11:1: is no Kubernetes object" in notes
