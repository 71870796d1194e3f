"""Rules of a user's own, beside ours."""

from pathlib import Path
from typing import Any

import pytest

from policies import own_rules
from policies.check import configured_checker
from policies.configuration import OWN_RULES, ConfigurationError, divide, with_file, with_site_rules
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.rule import Finding, Severity
from tests.policies.servicer import Servicer

FOLDER = "tests/policies/own_rules"
CONFIG: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}
_RULE = (own_rules.ROOT / FOLDER / "team_label.py").read_text()


def found(content: dict[str, Any]) -> list[Finding]:
    """Return what a configured checker finds in a ConfigMap without labels, by rules of one's own."""
    subject = Obj(CONFIG)
    return [each for each in configured_checker(content).check([subject], Inventory([subject])) if "label" in each.rule]


def test_an_own_rule_runs_beside_ours() -> None:
    """Rules of a folder run with all others, with the parameters that are set by their names."""
    (finding,) = found(with_site_rules({"team-label": {"label": "owner"}}, [FOLDER]))
    assert str(finding.message) == "has no label owner"
    assert (finding.rule, finding.severity, finding.remedy) == ("team-label", Severity.MANDATORY, "Add the label")
    assert len(configured_checker(with_site_rules({}, [FOLDER])).rules) == len(configured_checker({}).rules) + 1


@pytest.mark.parametrize("content", [{"team-label": "advisory"}, {"all": "advisory"}])
def test_levels_reach_an_own_rule(content: dict[str, Any]) -> None:
    """A level of the rule, and that of all rules, counts."""
    assert [each.severity for each in found(with_site_rules(content, [FOLDER]))] == [Severity.ADVISORY]


def test_a_file_configures_an_own_rule(tmp_path: Path) -> None:
    """A file over a configuration changes a field of an own rule, and one of a wrong name is refused."""
    file = tmp_path / "policies.json"
    file.write_text('{"team-label": "advisory"}')
    own = with_site_rules({"team-label": {"label": "owner"}}, [FOLDER])
    (finding,) = found(with_file(own, file))
    assert (finding.severity, finding.message) == (Severity.ADVISORY, "has no label owner")
    file.write_text('{"team-lable": "advisory"}')
    with pytest.raises(ConfigurationError, match="team-lable: no such rule; did you mean team-label"):
        with_file(own, file)


def test_the_pack_has_it() -> None:
    """The policy pack reports what an own rule finds, as its configuration names the folder."""
    configuration = with_site_rules({"team-label": {"label": "owner"}}, [FOLDER])
    said = Servicer(configuration={OWN_RULES: configuration[OWN_RULES]}).analyze("kubernetes:core/v1:ConfigMap", CONFIG)
    (own,) = (each for each in said if each.policyName == "team-label")
    assert "has no label owner" in own.message
    assert own.description == "A ConfigMap has the label of its team."


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gpu_limit", _RULE.replace("team-label", "gpu-limit"), "own/gpu_limit.py: gpu-limit is a name of this"),
        ("other", _RULE, "own/other.py defines the rule 'team-label'; name it 'other', or rename the file"),
        ("none", "A = 1\n", "own/none.py defines 0 rules; define exactly one"),
        ("wrong", "A = (\n", "own/wrong.py:1: '(' was never closed; correct it"),
        ("raises", "A = 1\nB = A / 0\n", "own/raises.py:2: ZeroDivisionError: division by zero; correct it"),
        ("Odd-Name", _RULE, "own/Odd-Name.py: Odd-Name is no name of a rule's module"),
    ],
)
def test_wrong_rules_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, expected: str
) -> None:
    """A module that is no rule of its name, or has a name of ours, is refused with file, line and remedy."""
    _write(tmp_path, monkeypatch, name, text)
    with pytest.raises(ConfigurationError) as caught:
        divide({OWN_RULES: {"folders": ["own"]}})
    assert expected in str(caught.value)


@pytest.mark.parametrize(("folder", "expected"), [("own", "own has no rule; write one"), ("../x", "../x is outside")])
def test_wrong_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, expected: str) -> None:
    """A folder without rules, and one outside of the project's, is refused."""
    monkeypatch.setattr(own_rules, "ROOT", tmp_path)
    with pytest.raises(ConfigurationError, match=expected):
        with_site_rules({}, [folder])


def test_a_rule_that_fails_is_a_finding_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rule raises is a finding of its severity, with the line in its file; other rules go on."""
    line = _RULE.splitlines().index('    if not subject.text("metadata", "labels", parameters.label):') + 1
    _write(tmp_path, monkeypatch, "team_label", _RULE.replace("if not subject.text(", "if not subject.no_such("))
    (finding,) = found(with_site_rules({}, ["own"]))
    assert finding.severity is Severity.MANDATORY
    assert finding.message.startswith(f"the rule fails at own/team_label.py:{line}: AttributeError: ")
    assert finding.remedy.startswith("Correct the rule")


def _write(root: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setattr(own_rules, "ROOT", root)
    (root / "own").mkdir()
    (root / "own" / f"{name}.py").write_text(text)
