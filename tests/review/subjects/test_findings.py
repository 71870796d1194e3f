"""What the policies say."""

from review.model import Finding
from review.subjects import findings
from tests.support.reviews import reported, review


def test_findings_are_grouped_and_ordered() -> None:
    """Mandatory findings come first, and a remedy is shown once."""
    found = review(
        findings=(
            Finding("image-pinned", mandatory=False, message="Job a/x: has no digest", remedy="Pin it"),
            Finding("image-pinned", mandatory=False, message="Job a/b: has no digest", remedy="Pin it"),
            Finding("old", mandatory=True, message="known", new=False),
            Finding(
                "gpu-limit", mandatory=True, message="Job a/b: asks for 1.5.", remedy="Ask for whole GPUs", new=True
            ),
        )
    )
    assert reported(findings.find, found) == [
        "! gpu-limit (mandatory): Job a/b: asks for 1.5. Ask for whole GPUs.",
        "! old (mandatory, not new): known.",
        "image-pinned (advisory), 2 times. Pin it.",
        "  Job a/b: has no digest",
        "  Job a/x: has no digest",
    ]


def test_no_findings() -> None:
    """Without findings there is no section."""
    assert reported(findings.find, review()) == []
