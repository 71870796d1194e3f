"""The forms of a report, each of the same findings."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from policies import version
from policies.check import Checker
from policies.rule import Severity
from policies.rules import RULES
from tests.toolkit.cli.check.samples import RULE, TODAY, examined, manifest
from toolkit.cli.check import text_report
from toolkit.cli.check.data_reports import REPORTS, Format
from toolkit.cli.check.examination import Result, examine
from toolkit.cli.check.sources import Source

HOSTILE = manifest('"\\e[35m\\n::error::<x> & ]]> \\u2028\\"\'"') + "---\n}\n"


@pytest.mark.parametrize("form", list(Format))
def test_reports_of_hostile_names(form: Format) -> None:
    """Control characters and markup in names do not reach a report."""
    text = REPORTS[form](examined(**{"a\udc80<b>&\x1b": HOSTILE}))
    assert "\x1b[35m" not in text
    assert "\n::error::" not in text
    assert text.encode()


def _text(result: Result) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", REPORTS[Format.TEXT](result)).splitlines()


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # whatever the terminal is that the tests run in


def test_text_groups_equal_findings() -> None:
    """Equal findings are one with its number and, by place, its objects; those of several files have one remedy."""
    lines = _text(examined(**{"f.yaml": f"{manifest()}---\n{manifest('p')}", "g.yaml": manifest("q")}))
    assert lines[0] == "several files"
    assert re.fullmatch(rf" +mandatory  {RULE}  asks for rdma/shared_ib0: 2.*", lines[1])
    assert "(3 times):" in " ".join(lines[1:3])
    assert [line for line in lines if "Pod" in line] == [
        "f.yaml:9:11   Pod x, main",
        "f.yaml:19:11  Pod p, main",
        "g.yaml:9:11   Pod q, main",
    ]
    assert sum(line.startswith('    Write "1"') for line in lines) == 1
    assert lines[-1] == "2 files, 3 objects, 3 pods, 3 findings (3 mandatory, 0 advisory)"


def test_text_names_rules_that_need_one_value_together() -> None:
    """A value that is unknown is one finding with the rules that need it."""
    template = (
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nparameters: [{name: GPUS}]\n"
        "objects: [{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: a}, spec: {containers: [{name: c, "
        "image: registry.example.com/a:1.0, resources: {limits: {nvidia.com/gpu: '${GPUS}'}}}]}}]\n"
    )
    rules = [rule for rule in RULES if rule.name in ("gpu-limit", "gpu-memory-limit", "gpu-whole-or-slice")]
    result = examine([Source("f", template.encode())], Checker(rules), today=TODAY)
    assert len(result.findings) > 1
    report = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text_report.report(result, advisories=True)).split())
    assert report.count("has a parameter of the Template without a value") == 1
    assert all(each.finding.rule in report.partition("Rules that need it: ")[2] for each in result.findings)


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_text_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines fit the terminal, and no word is lost."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = _text(
        examined(
            **{
                "f.yaml": manifest("a " * 60),
                "folder/g.yaml": manifest(),
                "h.yaml": f"a: {'x' * 150} : 1",
                "i" * 30: "}",
            }
        )
    )
    assert max(map(len, lines[:-1])) <= columns  # the summary is one line, for whoever reads the last one
    whole = " ".join(" ".join(lines).split())
    assert f"Pod {'a ' * 60}".strip() in whole
    assert "for more bandwidth ask for several different ones." in whole


def test_text_says_which_pod_of_a_job() -> None:
    """A finding names the role of its pod in an MPIJob."""
    container = "{name: c, resources: {limits: {rdma/a: 2}}}"
    replica = f"{{template: {{spec: {{containers: [{container}]}}}}}}"
    job = f"spec: {{mpiReplicaSpecs: {{Launcher: {replica}, Worker: {replica}}}}}"
    lines = _text(examined(f=f"apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: []\n{job}\n"))
    assert [role for line in lines for role in ("Launcher", "Worker") if f"MPIJob (no name), {role}, c" in line] == [
        "Launcher",
        "Worker",
    ]


def test_text() -> None:
    """A finding has place, severity, rule, object, message and remedy."""
    lines = _text(examined(**{"f.yaml": manifest()}))
    assert lines[0] == "f.yaml"
    assert lines[1].startswith("f.yaml:9:11  mandatory  rdma-exactly-one  Pod x, main: asks for rdma/shared_ib0: 2")
    assert lines[2].startswith('    Write "1"')
    assert lines[-1] == "1 file, 1 object, 1 pod, 1 finding (1 mandatory, 0 advisory)"


MIXED = """\
apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  containers:
    - name: a
      image: registry.example.com/a:1.0
      resources:
        limits: {rdma/a: 2, nvidia.com/gpu: 1}
    - name: b
      image: registry.example.com/b:1.0
      resources:
        limits: {rdma/b: 2}
"""
"""Of each container a mandatory violation of one rule, and of the first an advisory one that stands between them."""
BOTH = Checker([rule for rule in RULES if rule.name in (RULE, "gpu-memory-limit")])


def _mixed(*, advisories: bool, **files: str) -> list[str]:
    found = examine([Source(name, content.encode()) for name, content in files.items()], BOTH, today=TODAY)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text_report.report(found, advisories=advisories))
    return [re.sub(r"  +", "  ", line) for line in plain.splitlines() if re.match(r"\w+:\d+:", line)]


def test_text_lists_mandatory_findings_first() -> None:
    """Mandatory findings of all files come before the first advisory one."""
    found = examine([Source(name, MIXED.encode()) for name in "fg"], BOTH, today=TODAY)
    report = text_report.report(found, advisories=True).rpartition("\n")[0]
    assert re.findall("mandatory|advisory", report) == ["mandatory", "mandatory", "advisory"]


def test_text_counts_advisory_findings() -> None:
    """Advisory findings are one line with their number and the option that lists them; other forms have them all."""
    result = examine([Source("f", MIXED.encode())], BOTH, today=TODAY)
    advisory = sum(each.finding.severity is Severity.ADVISORY for each in result.findings)
    lines = _text(result)
    assert not any("gpu-memory-limit" in line for line in lines)
    assert lines[-2].startswith(f"{advisory} advisory finding")
    assert "--verbose" in lines[-2]
    assert f"{advisory} advisory" in lines[-1]
    content = json.loads(REPORTS[Format.JSON](result))
    assert len(content["findings"]) == len(result.findings)
    assert "gpu-memory-limit" in REPORTS[Format.SARIF](result).partition('"results"')[2]
    assert "gpu-memory-limit: Pod x" in REPORTS[Format.JUNIT](result)


def test_text_groups_findings_of_one_rule_of_an_object() -> None:
    """Findings of the same rule of one object follow each other, with severity and rule on the first only."""
    first, second = _mixed(advisories=False, f=MIXED)
    assert (first.split("  ")[1:3], second.split("  ")[1][:8]) == (["mandatory", RULE], "Pod x, b")
    lines = _text(examine([Source("f", MIXED.encode())], BOTH, today=TODAY))
    assert [index for index, line in enumerate(lines) if "Write" in line] == [3]


def test_text_keeps_objects_of_one_name_apart() -> None:
    """Objects with the same name in one file are two groups."""
    shown = _mixed(advisories=False, f=f"{MIXED}---\n{MIXED.replace(': 2', ': 3')}")
    assert [RULE in line for line in shown] == [True, False, True, False]


def test_json() -> None:
    """The JSON form has all fields of a finding."""
    content = json.loads(REPORTS[Format.JSON](examined(**{"f.yaml": manifest() + "---\n}\n"})))
    assert content["version"] == 1
    assert content["summary"]["mandatory"] == content["summary"]["unreadable"] == 1
    (finding,) = content["findings"]
    assert (finding["rule"], finding["line"], finding["container"]) == (RULE, 9, "main")
    assert finding["path"][-1] == "rdma/shared_ib0"
    assert content["unreadable"][0]["line"] == 11


def test_sarif() -> None:
    """The SARIF form is accepted by code hosts, and fingerprints survive changes above a finding."""
    (run,) = json.loads(REPORTS[Format.SARIF](examined(**{"a b.yaml": manifest()})))["runs"]
    driver = run["tool"]["driver"]
    assert driver["version"] == driver["semanticVersion"] == version()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version())
    rules = driver["rules"]
    (found,) = run["results"]
    assert rules[found["ruleIndex"]]["id"] == found["ruleId"] == RULE
    assert all("**Remedy**" in rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in rules)
    assert str(Path(__file__).parents[3]) not in json.dumps(run)
    place = found["locations"][0]["physicalLocation"]
    (absolute,) = json.loads(REPORTS[Format.SARIF](examined(**{str(Path.cwd() / "a b.yaml"): manifest()})))["runs"]
    assert absolute["results"][0]["locations"][0]["physicalLocation"] == place
    assert place == {"artifactLocation": {"uri": "a%20b.yaml"}, "region": {"startLine": 9, "startColumn": 11}}
    assert found["level"] == "error"
    (moved,) = json.loads(REPORTS[Format.SARIF](examined(**{"a b.yaml": f"# more\n{manifest()}"})))["runs"]
    assert moved["results"][0]["partialFingerprints"] == found["partialFingerprints"]


def test_junit() -> None:
    """The JUnit form is well formed, with counts that match its cases."""
    root = ET.fromstring(REPORTS[Format.JUNIT](examined(f=manifest(), g=manifest() + "---\na: 1\n---\n}\n")))  # noqa: S314 - our own
    (suite,) = root
    cases = {case.get("name"): case for case in suite}
    assert int(suite.get("tests", "")) == len(cases) == len(RULES) + 1
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    failure = cases[RULE].find("failure")
    assert failure is not None
    assert "f:9:11" in (failure.text or "")
    assert cases["files-are-readable"].find("error") is not None
    notes = cases["files-are-readable"].findtext("system-out") or ""
    assert "g:11:1: is not a Kubernetes object" in notes
