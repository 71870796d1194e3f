"""What a stack declares, for a check of it, or of files against it: its rules' configuration and its objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.manifests.objects import Obj, objects


@dataclass(frozen=True)
class StackObjects:
    """What the settings of a stack declare; they are without errors."""

    file: str
    """The stack's file, relative to the repository."""
    configuration: dict[str, Any]
    """Levels and parameters of the rules."""
    declared: Sequence[Obj]
    beside: Sequence[Obj]
    """Objects of the platform that the stack depends on, where that is a stack of its own."""
    together: Sequence[Obj]
    """Both; several patches of an object are one."""
    warnings: Sequence[str]
    """What may be wrong with the settings."""
    own: Sequence[Path] = ()
    """Files of the manifests of its own, whose objects are among the declared."""
    root: Path = Path()
    """The project's folder."""


def of_stack(name: str) -> StackObjects:
    """Return what a stack declares; raise SettingsError for wrong settings."""
    # Imported here: they bring Pulumi, which takes half a second that a check of files alone need not wait.
    from stacks.checks import allowance  # noqa: PLC0415
    from stacks.layers import own_objects  # noqa: PLC0415
    from stacks.loading import settings  # noqa: PLC0415
    from toolkit.cli.shared.paths import ROOT  # noqa: PLC0415
    from toolkit.cli.shared.policy_configuration import configuration  # noqa: PLC0415
    from toolkit.render.manifests import manifests, platform_registrations, registrations  # noqa: PLC0415

    stack_settings = settings.load(name, ROOT)
    own, others = registrations(name, ROOT), platform_registrations(name, ROOT)
    declared, around, together = (
        [obj for manifest in manifests(recorded) for obj in objects(manifest)]
        for recorded in (own, others, (*others, *own))
    )
    return StackObjects(
        file=str(settings.file(name, ROOT).relative_to(ROOT)),
        configuration=configuration(stack_settings),
        declared=declared,
        beside=around,
        together=together,
        own=own_objects.files(stack_settings.objects, ROOT),
        root=ROOT,
        warnings=tuple(allowance.warnings(stack_settings)),
    )
