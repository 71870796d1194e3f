"""What files are checked against, of a stack: how its rules are configured, and its objects."""

from collections.abc import Sequence
from typing import Any

from policies.objects import Obj, objects


def of_stack(name: str | None) -> tuple[dict[str, Any], Sequence[Obj]]:
    """Return the rules' configuration and the objects of a stack; nothing of either for None."""
    if name is None:
        return {}, ()
    # Imported here: they bring Pulumi, which takes half a second that a check of files alone need not wait.
    from cli.shared.paths import ROOT  # noqa: PLC0415
    from cli.shared.policy_configuration import configuration  # noqa: PLC0415
    from rendering.manifests import beside, manifests, registrations  # noqa: PLC0415
    from stacks.settings import load  # noqa: PLC0415

    rendered = manifests((*beside(name, ROOT), *registrations(name, ROOT)))
    return configuration(load(name, ROOT)), [each for manifest in rendered for each in objects(manifest)]
