"""Each sign, over objects as the API has them: what it finds, and what it leaves."""

import pytest

from tests.support.messages import has
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sign_finds_what_its_case_expects(case: Case) -> None:
    """A hazard has its place, cause and remedy; what cannot be checked is reported with the reason."""
    found: list[Hazard] = []
    unread = ""
    try:
        found.extend(signs.SIGNS[case.sign](settings(case.stack), case.live))
    except UnreadError as error:
        unread = str(error)
    assert (case.unread in unread) if case.unread else not unread, unread
    texts = [f"{hazard.name}: {hazard.text}" for hazard in found]
    assert len(texts) == len(case.expect), texts
    for text, parts in zip(texts, case.expect, strict=True):
        assert has(text, *parts), text
    assert all(hazard.place and hazard.cause and hazard.remedy for hazard in found)
