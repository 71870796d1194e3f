"""What the policies say."""

from review.model import Finding
from review.subjects import findings
from tests.support.reviews import review, told


def test_findings_are_grouped_and_ordered() -> None:
    """Prevents a mandatory finding below forty advisory ones, and one remedy forty times."""
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
    assert told(findings.find, found) == [
        "! gpu-limit (mandatory): Job a/b: asks for 1.5. Ask for whole GPUs.",
        "! old (mandatory, not new): known.",
        "image-pinned (advisory), 2 times. Pin it.",
        "  Job a/b: has no digest",
        "  Job a/x: has no digest",
    ]


def test_no_findings() -> None:
    """Prevents a section that says nothing."""
    assert told(findings.find, review()) == []
