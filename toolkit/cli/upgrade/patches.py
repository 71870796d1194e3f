"""What a step changes in the settings, and whether they are accepted then."""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.data_files import DataFileError
from policies.manifests.values import read
from stacks.checks.component_versions import SCALE, TRAINER, branch, component_of
from stacks.checks.operator import subscriptions
from stacks.gpu_drivers import gpu_drivers
from stacks.loading import settings as stack_settings
from stacks.releases import RELEASES
from stacks.resolved.versions import version_of
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.origins import SettingsError
from stacks.settings.platform import Settings
from stacks.transitions import COMPONENTS, GPU_DRIVER, GPU_OPERATOR, OPENSHIFT, minor
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.upgrade.path import Planned

_MINOR = re.compile(r"\d+\.\d+")
_DRIVER = "gpu.driver.version"


@dataclass(frozen=True)
class Patch:
    """What a step changes in the settings."""

    values: Mapping[str, str | None]
    """Path of a setting -> its new value; None: it is left out."""
    problems: str = ""
    """What the settings do not accept then; empty: nothing."""


def patches(planned: Sequence[Planned], data: Any, source: str, aim: Any = None) -> Iterator[Patch]:
    """Yield the patch of each step, from settings as they are written.

    A step to another generation, and one that is refused, has none. `source` names the settings in messages.
    `aim` are those that are aimed at: the last step of a component takes its values from there.
    """
    written = copy.deepcopy(data)
    last = {step.component: index for index, step in enumerate(planned)}
    for index, step in enumerate(planned):
        if step.step.recreated or step.verdict.refused:
            yield Patch({}, step.problem)
            continue
        if step.component == OPENSHIFT and minor(step.step.target) not in RELEASES:
            yield Patch(
                {}, f"release {minor(step.step.target)}: this version of hpc has no file of it in stacks/releases"
            )
            continue
        settings, wrong = _parsed(written, source)
        if settings is None:
            yield Patch({}, wrong)
            continue
        changes = dict(_changes(step, settings, written))
        if aim is not None and last[step.component] == index:
            paths = {*changes, *([_DRIVER] if step.component == GPU_OPERATOR and _value(written, _DRIVER) else [])}
            changes |= {path: _value(aim, path) for path in paths if _value(aim, path) is not None}
        changed = {path: value for path, value in changes.items() if _value(written, path) != value}
        for path, value in changed.items():
            _set(written, path, value)
        yield Patch(changed, _parsed(written, source)[1] if changed else "")


def _parsed(data: Any, source: str) -> tuple[Settings | None, str]:
    try:
        return stack_settings.parse(copy.deepcopy(data), source, root=ROOT), ""
    except (SettingsError, DataFileError) as error:
        return None, str(error)


def _changes(planned: Planned, settings: Settings, data: Any) -> Iterator[tuple[str, str | None]]:
    name, version = planned.component, minor(planned.step.target)
    if name == OPENSHIFT:
        yield "release", version
        return
    for place, operator in subscriptions(settings):
        if component_of(operator.package) == name and _MINOR.search(operator.channel):
            yield f"{place}.channel", _MINOR.sub(version, operator.channel, count=1)
            if operator.starting_csv:
                yield f"{place}.starting_csv", None
    target = COMPONENTS[name].versions.get(version)
    for path, value in (target.settings if target else {}).items():
        if _value(data, path) is not None:
            yield path, value
    if name == TRAINER:
        image = str(_value(data, "trainer.image"))
        yield "trainer.image", re.sub(r":v?\d[^:/@]*(@.*)?$", f":v{version}.0", image)
    elif name == SCALE:
        yield "storage.version", planned.step.target
    elif isinstance(settings.gpu, GpuOperatorSettings) and (driver := _driver(planned, settings.gpu)):
        yield _DRIVER, driver


def _driver(planned: Planned, gpu: GpuOperatorSettings) -> str | None:
    """Return the GPU driver that a step brings; None: it brings no other.

    A step of the operator brings one where its version does not support the present one.
    """
    lists, target = gpu_drivers(), minor(planned.step.target)
    if planned.component == GPU_DRIVER:
        return lists.newest_of(version_of(gpu.operator) or "", int(planned.step.target))
    if planned.component != GPU_OPERATOR or gpu.driver is None or lists.supports(target, gpu.driver.version):
        return None
    active, present = lists.active_with(target), int(branch(gpu.driver.version))
    return lists.newest_of(target, present if present in active else min(active))


def _value(data: Any, path: str) -> Any:
    return read(data, *path.split("."))


def _set(data: Any, path: str, value: str | None) -> None:
    *parents, last = path.split(".")
    for name in parents:
        data = data.setdefault(name, {})
    if value is None:
        data.pop(last, None)
    else:
        data[last] = value
