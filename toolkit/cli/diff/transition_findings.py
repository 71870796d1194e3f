"""Steps between the versions of two commits that a vendor does not support, as findings of a review."""

from collections.abc import Iterable, Iterator

from stacks.checks.component_versions import is_allowed, refusal, steps
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings
from toolkit.cli.shared.preflight import installed_versions
from toolkit.review.model import Finding
from toolkit.review.renders import Rendered

NAME = "supported-upgrade"
"""Where reviews name the rule; it is about a change, and therefore none of the pack's."""


def of(before: Iterable[Rendered], after: Settings) -> Iterator[Finding]:
    """Yield a mandatory finding for each step that an update must not do at once."""
    if isinstance(after, TenantsLayer):
        return
    running = installed_versions.of_objects(installed_versions.listing(entry.resource.inputs for entry in before))
    for entry, step in steps(running, after):
        if step.verdict.refused and not is_allowed(entry, step, after):
            yield Finding(NAME, mandatory=True, message=refusal(entry, step), new=True)
