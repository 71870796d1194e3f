"""What the policies say."""

from stacks.loading.settings import parse
from tests.support.reviews import reported, review
from tests.support.stack_settings import changed
from toolkit.cli.diff import settings_facts
from toolkit.review.cluster_facts import AllowedFact, Facts
from toolkit.review.model import Finding
from toolkit.review.subjects import findings

_REASON = "approved by the vendor, case 1234"


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
        "image-pinned (advisory), 2 times: has no digest. Pin it.",
        "  Job a/b and Job a/x",
    ]


def test_equal_findings_are_one_with_their_objects() -> None:
    """A rule that finds the same of several objects, and other things too, names the objects of each message."""
    same = [
        f"{kind} a/{name}, container c, spec.containers[0].image: comes from b"
        for kind, name in (("Pod", "x"), ("Pod", "y"), ("Job", "(no name)"))
    ]
    messages = [*same, "Pod a/z: comes from c", "no object of ours: at all"]
    found = review(findings=[Finding("image-registry", mandatory=True, message=message) for message in messages])
    assert reported(findings.find, found) == [
        "! image-registry (mandatory), 5 times.",
        "  comes from b, 3 times: Job a/(no name), Pod a/x and Pod a/y",
        "  Pod a/z: comes from c",
        "  no object of ours: at all",
    ]


def test_findings_of_ones_own_objects_name_the_manifest() -> None:
    """A finding of an object of one's own has file and line of its manifest, also among several."""
    facts = Facts(manifests={"Pod a/x": "objects/a.yaml:7"})
    single = Finding("gpu-limit", mandatory=True, message="Pod a/x, spec.containers[0]: asks for 1.5")
    equal = [Finding("old", mandatory=True, message=f"Pod a/{name}: is old") for name in "xy"]
    assert reported(findings.find, review(findings=[single, *equal], facts=facts)) == [
        "! gpu-limit (mandatory): objects/a.yaml:7: Pod a/x, spec.containers[0]: asks for 1.5.",
        "! old (mandatory), 2 times: is old.",
        "  Pod a/x in objects/a.yaml:7 and Pod a/y",
    ]


def test_no_findings() -> None:
    """Without findings there is no section."""
    assert reported(findings.find, review()) == []


def test_remarks() -> None:
    """Warnings are listed, each on one line."""
    assert reported(findings.find_warnings, review(warnings=("provider: old\n  API",))) == ["provider: old API"]
    assert reported(findings.find_warnings, review()) == []


def test_an_allowed_version_is_reported_once() -> None:
    """What the program warns of an entry of `allow` that nothing needs is in the section of these versions alone."""
    entry = AllowedFact(what="gpu.driver.version", value="1.2", reason="tested")
    text = "allow: gpu.driver.version 1.2 is not outside a vendor's table; remove the entry"
    found = review(warnings=(text, "provider: old"), facts=Facts(allowed=(entry,)))
    assert reported(findings.find_warnings, found) == ["provider: old"]
    assert len(reported(findings.find_unlisted_versions, found)) == 1


def test_every_review_has_the_allowed_versions() -> None:
    """A review that changes nothing has each allowed version with its reason, and says which entry nothing needs."""
    entries = [{"what": "gpu.driver.version", "value": value, "reason": _REASON} for value in ("535.129.03", "1.2.3")]
    settings = parse(changed("prod", gpu__driver__version="535.129.03", allow=entries), "test")
    accepted, unneeded = reported(findings.find_unlisted_versions, review(facts=settings_facts.of(settings)))
    assert accepted.startswith(f"gpu.driver.version 535.129.03 is accepted: {_REASON} (GPU Operator ")
    assert unneeded == "allow of gpu.driver.version 1.2.3: nothing needs the entry; remove it"
