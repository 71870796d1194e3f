"""Each sign, over objects as the API has them: what it finds, and what it leaves."""

import re

import pytest

from tests.support.messages import has
from tests.support.recorded import ROOT
from tests.toolkit.cli.shared.hazards.planted import SIGNS, Case, cases, settings
from toolkit.cli.shared.hazards import signs
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import UnreadError

CASES = [*cases()]


@pytest.mark.parametrize("sign", signs.SIGNS)
def test_a_sign_has_cases_of_both_kinds(sign: str) -> None:
    """Each sign has objects in which it finds something, and objects in which it does not."""
    for kind in ("allowed", "denied"):
        assert any(case.sign == sign and case.name.startswith(f"{kind}/") for case in CASES), SIGNS / sign / kind


def test_cases_are_of_signs() -> None:
    """No case is of a sign that does not exist, and those that expect a hazard are the denied ones."""
    assert {case.sign for case in CASES} == {*signs.SIGNS}
    assert [str(case) for case in CASES if bool(case.expect) != case.name.startswith("denied/")] == []


def _hazards(case: Case) -> tuple[list[Hazard], str]:
    """Return the hazards of a case, and why not all could be checked."""
    hazards: list[Hazard] = []
    try:
        for hazard in signs.SIGNS[case.sign](settings(case.stack), case.live):
            hazards.append(hazard)
    except UnreadError as error:
        return hazards, str(error)
    return hazards, ""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sign_finds_what_its_case_expects(case: Case) -> None:
    """A hazard has its place, cause and remedy; what cannot be checked is reported with the reason."""
    hazards, unread = _hazards(case)
    assert (case.unread in unread) if case.unread else not unread, unread
    texts = [f"{hazard.name}: {hazard.text}" for hazard in hazards]
    assert len(texts) == len(case.expect), texts
    for text, parts in zip(texts, case.expect, strict=True):
        assert has(text, *parts), text
    assert all(hazard.place and hazard.cause and hazard.remedy for hazard in hazards)


def test_the_guide_has_every_hazard() -> None:
    """Each hazard that a case expects, by its name at the beginning, is in the table of the guide, and no other is."""
    page = (ROOT / "docs" / "guide" / "operations.md").read_text()
    section = page.partition("## Hazards of the site")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall("`([^`]+)`", row)}
    hazards = {hazard.name for case in CASES for hazard in _hazards(case)[0]}
    assert listed == hazards
