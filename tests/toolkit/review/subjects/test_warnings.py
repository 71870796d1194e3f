"""Remarks."""

from tests.support.reviews import reported, review
from toolkit.review.cluster_facts import AllowedFact, Facts
from toolkit.review.subjects import unlisted_versions, warnings


def test_remarks() -> None:
    """Warnings are listed, each on one line."""
    assert reported(warnings.find, review(warnings=("provider: old\n  API",))) == ["provider: old API"]
    assert reported(warnings.find, review()) == []


def test_an_allowed_version_is_reported_once() -> None:
    """What the program warns of an entry of `allow` that nothing needs is in the section of these versions alone."""
    entry = AllowedFact(what="gpu.driver.version", value="1.2", reason="tested")
    text = "allow: gpu.driver.version 1.2 is not outside a vendor's table; remove the entry"
    found = review(warnings=(text, "provider: old"), facts=Facts(allowed=(entry,)))
    assert reported(warnings.find, found) == ["provider: old"]
    assert len(reported(unlisted_versions.find, found)) == 1
