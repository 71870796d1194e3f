"""Versions outside a vendor's table in a review."""

from stacks.loading.settings import parse
from tests.support.reviews import reported, review
from tests.support.stack_settings import changed
from toolkit.cli.diff import settings_facts
from toolkit.review.subjects import unlisted_versions

_REASON = "approved by the vendor, case 1234"


def test_every_review_has_the_allowed_versions() -> None:
    """A review that changes nothing has each allowed version with its reason, and says which entry nothing needs."""
    entries = [{"what": "gpu.driver.version", "value": value, "reason": _REASON} for value in ("535.129.03", "1.2.3")]
    settings = parse(changed("prod", gpu__driver__version="535.129.03", allow=entries), "test")
    accepted, unneeded = reported(unlisted_versions.find, review(facts=settings_facts.of(settings)))
    assert accepted.startswith(f"gpu.driver.version 535.129.03 is accepted: {_REASON} (GPU Operator ")
    assert unneeded == "allow of gpu.driver.version 1.2.3: nothing needs the entry; remove it"
