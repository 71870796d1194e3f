"""What a component declares, as manifests, and what our own rules have against it."""

from collections.abc import Callable
from typing import Any

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.rule import Severity
from tests.support.recorded import component
from toolkit.render.manifests import manifests

Manifest = dict[str, Any]


def declared(build: Callable[[], object]) -> list[Manifest]:
    """Return the manifests of whatever `build` declares."""
    return manifests(component(build))


def only(rendered: list[Manifest], kind: str) -> Manifest:
    """Return the only manifest of a kind."""
    (manifest,) = (candidate for candidate in rendered if candidate["kind"] == kind)
    return manifest


def faults(rendered: list[Manifest]) -> list[str]:
    """Return the mandatory findings; links to what other components declare are not among them."""
    seen = [subject for manifest in rendered for subject in objects(manifest)]
    findings = Checker().check(seen, Inventory(seen))
    return [str(finding) for finding in findings if finding.severity is Severity.MANDATORY]
