"""What an upgrade starts from and aims at: a cluster, a state, a release, or settings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.yaml.errors import FileError
from stacks.checks.component_versions import declared
from stacks.loading import bases
from stacks.loading import settings as stack_settings
from stacks.platform_output import OUTPUT
from stacks.releases import RELEASES, either
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings
from stacks.transitions import COMPONENTS, OPENSHIFT, minor
from toolkit.cli.shared import session
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.hazards import examination
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.preflight import installed_versions
from toolkit.cli.shared.stack import Stack
from toolkit.cli.upgrade import path

CLUSTER, STATE = "cluster", "state"
_RELEASE = re.compile(r"\d+\.\d+(\.\d+)?")


@dataclass(frozen=True)
class End:
    """Versions by component, and where they are from."""

    words: str
    """How messages name it."""
    versions: Mapping[str, str]
    data: Any = None
    """The settings as they are written, where it is settings."""
    unread: tuple[str, ...] = ()
    """What of a cluster could not be read, and why."""
    hazards: tuple[Hazard, ...] = ()
    """What endangers the cluster."""


def start(source: str, stack: Stack) -> End:
    """Return what an upgrade starts from; raise Problem where that does not say its release of OpenShift."""
    if source == CLUSTER:
        served = session.cluster(stack)
        versions, unread = installed_versions.of_cluster(served)
        hazards = examination.examine(stack.settings, served)
        end = End(f"the cluster of stack {stack.name}", versions, unread=tuple(unread), hazards=tuple(hazards))
    elif source == STATE:
        end = End(f"the state of stack {stack.name}", _of_state(stack))
    else:
        end = of_settings(source)
    if OPENSHIFT not in end.versions:
        why = f" ({'; '.join(end.unread)})" if end.unread else ""
        raise Problem(
            f"{end.words} does not say which release of OpenShift it has{why}",
            "Name another start: --from cluster, state, a stack, or a file of settings.",
        )
    return end


def aim(name: str, start: End) -> End:
    """Return what an upgrade aims at: a release, or settings; raise Problem for a release that is not known."""
    if not _RELEASE.fullmatch(name):
        return of_settings(name)
    if minor(name) not in RELEASES and minor(name) not in COMPONENTS[OPENSHIFT].versions:
        raise Problem(f"--to {name}: nothing is known of that release", f"Name {either(RELEASES)}.")
    return End(f"OpenShift {name}", path.aims(start.versions, name))


def of_settings(name: str) -> End:
    """Return the versions that settings declare: of a stack, or of a file."""
    try:
        file = stack_settings.file(name, ROOT) if "/" not in name and not name.endswith(".yaml") else Path(name)
        content = bases.content(file)
    except OSError as error:
        raise Problem(f"{name} cannot be read: {error.strerror}", "Name a stack, or a file of settings.") from None
    except FileError as error:
        raise Problem(str(error)) from None
    settings = stack_settings.parse(content, str(file), file.stem, ROOT)
    return End(f"the settings {name}", versions_of(settings), bases.whole(content, str(file), ROOT).data)


def versions_of(settings: Settings) -> dict[str, str]:
    """Return the versions that settings declare, by component."""
    if isinstance(settings, TenantsLayer):
        raise Problem(
            "tenants have no versions of their own",
            f"Name the stack of their platform: --stack {settings.platform}.",
        )
    return {entry.component: entry.version for entry in declared(settings)}


def _of_state(stack: Stack) -> dict[str, str]:
    if stack.backend is None:
        raise Problem("the state's backend can be read by the engine alone", "Use --from cluster.")
    resources = stack.backend.resources(stack.name)
    root = next((entry for entry in resources if entry.get("type") == "pulumi:pulumi:Stack"), {})
    platform = (root.get("outputs") or {}).get(OUTPUT)
    named = platform.get("release") if isinstance(platform, Mapping) else None
    return installed_versions.of_state(
        resources, str(named) if named else stack.settings.release if resources else None
    )
