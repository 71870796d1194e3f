"""The settings of an environment, from its file.

`Pulumi.<stack>.yaml` holds them under the key `hpc:platform`; examples are in `stacks/examples/`. Nothing else
reads the configuration. A file of tenants names a platform, whose file is read, too, and those of its other tenants.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core import project
from core.yaml.errors import FileError
from stacks.checks import consistency
from stacks.loading import bases, field_places, machines, wrong_values
from stacks.loading.bases import KEY, PROJECT, SETTING, Whole
from stacks.settings import layers as layer_settings
from stacks.settings.error import SettingsError, wrong
from stacks.settings.layers import OBJECTS_PART, TENANTS_PART, Neighbours, PlatformLayer, TenantsFile
from stacks.settings.platform import Settings

__all__ = ["KEY", "PROJECT", "Settings", "SettingsError", "file", "known", "load", "parse", "tenants_of", "whole"]

ROOT = project.FOLDER
_BASE = re.compile(r"base[\"']?:\s*[\"']?([^\s\"'#,{}]+\.ya?ml)\b")
M = TypeVar("M", bound=BaseModel)
S = TypeVar("S", bound=Settings)


def parse(data: Any, source: str, stack: str = "", root: Path = ROOT) -> Settings:
    """Return the settings in `data`; raise SettingsError, which lists all errors and names `source`.

    Of tenants alone the files that belong to them are read from `root`; `stack` is then the name of this one.
    """
    if data is None:
        raise SettingsError(f"{source}: {SETTING} is missing; Pulumi.dev.yaml is an example")
    own = bases.whole(data, source, root)
    if isinstance(own.data, Mapping) and "platform" in own.data:
        return _on_platform(own, stack, root)
    layered = isinstance(own.data, Mapping) and "layer" in own.data
    return _checked(_read(PlatformLayer if layered else Settings, own, root), own)


def _read(model: type[M], given: Whole, root: Path = ROOT) -> M:
    own, problems = machines.read(given.data, root)
    if problems:
        raise wrong(given.source, [f"  {given.shown(place)}{problem}" for place, problem in problems])
    try:
        return model.model_validate(given.data, context=own)
    except ValidationError as errors:
        raise wrong(given.source, wrong_values.lines(errors, given, model)) from None


def _checked(settings: S, own: Whole, platform: Whole | None = None) -> S:
    """Return `settings` unless they contradict each other; what tenants have is in `own`, all else in `platform`."""
    found = [f"  {_where(problem, settings, own, platform)}{problem}" for problem in consistency.problems(settings)]
    if found:
        raise wrong(own.source, found)
    return settings.from_files(lambda place: _file_of(str(place[0]), own, platform).shown(place))


def _where(problem: str, settings: Settings, own: Whole, platform: Whole | None) -> str:
    """Return where the message of a rule says that its setting is."""
    given = _file_of(problem, own, platform)
    where = given.where(field_places.as_written(field_places.of_problem(problem, settings), given.data))
    return where if where or given is own else f"{given.source}: "


def _file_of(setting: str, own: Whole, platform: Whole | None) -> Whole:
    """Return what has a setting, or that with which a message begins."""
    return own if platform is None or setting.startswith((*TENANTS_PART, *OBJECTS_PART)) else platform


def _on_platform(given: Whole, stack: str, root: Path) -> Settings:
    """Return tenants with what is in the files that belong to them."""
    own = _read(TenantsFile, given)
    try:
        there = whole(own.platform, root)
        if not isinstance(there.data, Mapping) or "layer" not in there.data:
            raise SettingsError(
                f"{there.source} is not the file of a platform alone; write `layer: platform` there, and move its "
                f"{', '.join(TENANTS_PART)} to files such as this one"
            )
        platform = _checked(_read(PlatformLayer, there, root), there)
    except SettingsError as error:
        raise SettingsError(f"{given.shown(('platform',))}{own.platform!r} cannot be used\n{error}") from None
    neighbours = tuple(
        Neighbours(file=each.source, tenants=_read(TenantsFile, each).tenants)
        for name, each in _tenants(own.platform, root)
        if name != stack
    )
    return _checked(layer_settings.on(platform, own, neighbours), given, there)


def tenants_of(platform: str, root: Path) -> list[str]:
    """Return the stacks whose files name `platform` as theirs."""
    return [name for name, _ in _tenants(platform, root)]


def _tenants(platform: str, root: Path) -> Iterator[tuple[str, Whole]]:
    """Yield each stack of tenants of a platform with the settings in its file and its bases, as they are written."""
    named = re.compile(rf"platform[\"']?:\s*[\"']?{re.escape(platform)}\b")
    for name in known(root):
        if any(named.search(text) for text in _texts(file(name, root), root)):
            found = whole(name, root)
            if isinstance(found.data, Mapping) and found.data.get("platform") == platform:
                yield name, found


def _texts(path: Path, root: Path, seen: tuple[Path, ...] = ()) -> Iterator[str]:
    """Yield the text of a file and of what may be its bases: reading all settings of a project would take long."""
    if path.is_file() and path not in seen:
        text = path.read_text(errors="replace")
        yield text
        for base in _BASE.findall(text):
            yield from _texts(root / base, root, (*seen, path))


def examples(root: Path) -> Path:
    """Return the folder of the examples of a checkout of the project."""
    return project.product_in(root) / "stacks" / "examples"


def known(root: Path) -> list[str]:
    """Return the names of all stacks: those of the project, then the examples."""
    own = sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in root.glob("Pulumi.*.yaml"))
    return [*own, *sorted(path.stem for path in examples(root).glob("*.yaml"))]


def file(stack: str, root: Path) -> Path:
    """Return the file with the settings of `stack`; raise SettingsError, naming the known ones, when there is none."""
    own = root / f"Pulumi.{stack}.yaml"
    example = examples(root) / f"{stack}.yaml"
    if own.is_file():
        return own
    # A name with a slash would lead elsewhere.
    if example.is_file() and example.parent == examples(root):
        return example
    raise SettingsError(
        f"no settings for stack {stack!r}: {own.name} is missing; known stacks: {', '.join(known(root))}"
    )


def load(stack: str, root: Path) -> Settings:
    """Return the settings of `stack` from its file below `root`, without the engine."""
    path = file(stack, root)
    return parse(_content(path), path.relative_to(root).as_posix(), stack, root)


def whole(stack: str, root: Path) -> Whole:
    """Return what the file of `stack` says over its bases, as it is written: nothing of it is checked."""
    path = file(stack, root)
    return bases.whole(_content(path), path.relative_to(root).as_posix(), root)


def _content(path: Path) -> Any:
    """Return what a file holds under our key; None where it has none."""
    try:
        return bases.content(path)
    except FileError as error:
        raise SettingsError(str(error)) from None
