"""Exceptions to the rules: what they cover, until when, and what a wrong file says."""

from datetime import date
from pathlib import Path

import pytest

from policies.exceptions import (
    FILE,
    NAME,
    PLACE,
    ExceptionsError,
    RuleException,
    Tally,
    expired,
    load,
    read,
    unused,
    waive,
)
from policies.rule import Finding, Severity
from policies.rules import RULES

TODAY = date(2026, 11, 21)
RULE, REASON = "not-privileged", "the vendor's installer needs it; accepted by the site"


def _finding(name: str = "DaemonSet gpu/driver", rule: str = RULE) -> Finding:
    return Finding(rule, Severity.MANDATORY, name, "is privileged", "Delete privileged")


def _exception(pattern: str, expires: date = TODAY, rule: str = RULE) -> RuleException:
    return RuleException(rule=rule, object=pattern, reason=REASON, expires=expires)


def _file(folder: Path, text: str) -> Path:
    path = folder / "exceptions.yaml"
    path.write_text(text)
    return path


def test_a_covered_finding_is_left_out_on_the_last_day() -> None:
    """An exception applies on its last day."""
    assert list(waive([_finding()], [_exception("DaemonSet gpu/driver")], TODAY)) == []


@pytest.mark.parametrize(
    "exception",
    [
        _exception("DaemonSet gpu/driver", rule="no-host-path"),
        _exception("DaemonSet gpu/drive"),
        _exception("gpu/driver"),
    ],
    ids=["another rule", "a part of the name", "no kind"],
)
def test_what_is_not_named_is_not_covered(exception: RuleException) -> None:
    """An exception covers only the findings of the rule and object that it names."""
    assert list(waive([_finding()], [exception], TODAY)) == [_finding()]


def test_one_exception_covers_a_pattern() -> None:
    """A pattern covers all objects that match it."""
    mine, other = (
        [_finding(f"DaemonSet gpu/{name}") for name in ("driver", "toolkit")],
        _finding("DaemonSet net/driver"),
    )
    assert list(waive([*mine, other], [_exception("DaemonSet gpu/*")], TODAY)) == [other]


def test_an_expired_exception_fails_and_says_so() -> None:
    """A finding is reported again, with the date, from the day after its exception's last."""
    old = _exception("DaemonSet gpu/driver", date(2026, 11, 20))
    (finding,) = waive([_finding()], [old], TODAY)
    assert finding.message == "is privileged (its exception ended on 2026-11-20)"
    assert finding.severity is Severity.MANDATORY


def test_a_renewed_exception_holds_beside_the_old_one() -> None:
    """A renewed exception applies although an expired one for the same finding comes first."""
    entries = [_exception("DaemonSet gpu/*", date(2026, 1, 1)), _exception("DaemonSet gpu/driver", date(2027, 1, 1))]
    assert list(waive([_finding()], entries, TODAY)) == []


def test_an_ended_exception_is_a_finding_of_its_own() -> None:
    """An expired exception is a mandatory finding of its own, until it is deleted or renewed."""
    entries = [_exception("DaemonSet gpu/driver"), _exception("DaemonSet gpu/old", date(2026, 11, 20))]
    (finding,) = expired(entries, TODAY)
    assert (finding.rule, finding.severity) == (NAME, Severity.MANDATORY)
    assert finding.object == f"exception to {RULE} for DaemonSet gpu/old"
    assert "2026-11-20" in finding.message
    assert REASON in finding.message


def test_a_file_is_read(tmp_path: Path) -> None:
    """The documented form of the file is accepted."""
    path = _file(
        tmp_path,
        f"- {{rule: {RULE}, object: DaemonSet gpu/driver, reason: accepted by the site, expires: 2027-06-30}}\n",
    )
    (entry,) = read(path)
    assert (entry.rule, entry.expires) == (RULE, date(2027, 6, 30))


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]\n"])
def test_no_exceptions(text: str, tmp_path: Path) -> None:
    """An empty file is accepted."""
    assert read(_file(tmp_path, text)) == ()


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("{rule: not-privileged, object: b, reason: long enough, expires: someday}", "expires"),
        ("{rule: not-privileged, object: b, reason: long enough}", "expires"),
        ("{rule: not-privileged, object: b, reason: short, expires: 2027-06-30}", "reason"),
        ("{rule: not-privileged, reason: long enough, expires: 2027-06-30}", "object"),
        ("{rule: not-privileged, object: b, reason: long enough, expires: 2027-06-30, owner: c}", "owner"),
    ],
)
def test_a_wrong_entry_names_itself_and_the_field(entry: str, field: str, tmp_path: Path) -> None:
    """An entry that is not well formed is refused, with its number and field."""
    path = _file(
        tmp_path, f"- {{rule: not-privileged, object: b, reason: long enough, expires: 2027-06-30}}\n- {entry}\n"
    )
    with pytest.raises(ExceptionsError) as error:
        read(path)
    assert f"{path}:2: exception 2: {field}: " in str(error.value)


def test_a_rule_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """An exception to a rule that does not exist is refused by name."""
    path = _file(tmp_path, "- {rule: not-priviledged, object: b, reason: long enough, expires: 2027-06-30}\n")
    with pytest.raises(
        ExceptionsError, match="exception 1: rule: not-priviledged: no such rule; did you mean not-priv"
    ):
        read(path)


def test_a_site_has_exceptions_of_its_own(tmp_path: Path) -> None:
    """The file in the project's folder is read beside the product's, also for rules of its own, and has its path."""
    assert load(tmp_path) == load()
    own = tmp_path / "policies" / "exceptions.yaml"
    own.parent.mkdir()
    rules = (RULE, "team-label")
    entries = [f"- {{rule: {rule}, object: b, reason: {REASON!r}, expires: 2027-06-30}}\n" for rule in rules]
    own.write_text("".join(entries))
    added = load(tmp_path)[len(load()) :]
    assert [(each.rule, each.place) for each in added] == [(RULE, (PLACE, 1)), ("team-label", (PLACE, 2))]


def test_an_exception_knows_its_place(tmp_path: Path) -> None:
    """An expired exception is located in its own file and line."""
    entry = f"{{rule: {RULE}, object: b, reason: long enough, expires: 2027-06-30}}"
    path = _file(tmp_path, f"# why\n- {entry}\n\n- {entry}\n")
    assert [each.place for each in read(path)] == [(str(path), 2), (str(path), 4)]
    assert [each.origin for each in expired(read(path), date(2028, 1, 1))] == [(str(path), 2), (str(path), 4)]


@pytest.mark.parametrize(
    "pattern", ["Pod a/x", "Pod a/x, c", "Pod a/x, container c", "MPIJob a/m, Worker, c", "MPIJob a/m, c", "*, c"]
)
def test_a_container_may_be_named(pattern: str) -> None:
    """An exception covers a finding by any name under which reports show its object."""
    found = [
        _finding("Pod a/x")._replace(container="c"),
        _finding("MPIJob a/m")._replace(container="c", path=("spec", "mpiReplicaSpecs", "Worker", "template")),
    ]
    left = list(waive(found, [_exception(pattern)], TODAY))
    assert len(left) == (0 if pattern == "*, c" else 1)
    others = [each._replace(container="d") for each in found]
    assert list(waive(others, [_exception(pattern)], TODAY)) == (others if ", " in pattern else others[1:])


def test_waived_findings_are_counted() -> None:
    """Excepted findings are counted, and exceptions that match none are listed."""
    entries, tally = [_exception("DaemonSet gpu/*"), _exception("DaemonSet net/*")], Tally()
    assert list(waive([_finding(), _finding()], entries, TODAY, tally)) == []
    assert tally.excepted == 2
    assert list(unused(entries, tally)) == entries[1:]


@pytest.mark.parametrize("text", ["rule: a\n", "just text\n", "[a: {\n", "- a\n- b\n"])
def test_a_file_that_is_no_list_of_exceptions(text: str, tmp_path: Path) -> None:
    """A file that is not YAML is refused with a message."""
    with pytest.raises(ExceptionsError, match="exceptions"):
        read(_file(tmp_path, text))


def test_an_absent_file(tmp_path: Path) -> None:
    """A path that does not exist is an error."""
    with pytest.raises(ExceptionsError, match=r"absent\.yaml"):
        read(tmp_path / "absent.yaml")


def test_our_own_exceptions_hold() -> None:
    """The exceptions of this repository name existing rules and have not expired."""
    entries = read(FILE)
    assert {entry.rule for entry in entries} <= {rule.name for rule in RULES}
    assert list(expired(entries, TODAY)) == []
