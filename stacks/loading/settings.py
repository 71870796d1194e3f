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
from core.hardware.profiles import PROFILES, Profile, missing, read_machine
from core.yaml.errors import FileError
from stacks.checks import consistency
from stacks.loading import bases, field_places, wrong_values
from stacks.loading.bases import KEY, PROJECT, SETTING, Whole
from stacks.settings import layers as layer_settings
from stacks.settings.layers import OBJECTS_PART, TENANTS_PART, Neighbours, PlatformLayer, TenantsFile
from stacks.settings.origins import Place, SettingsError, wrong
from stacks.settings.platform import Settings

__all__ = ["KEY", "PROJECT", "Settings", "SettingsError", "file", "load", "parse", "stack_names", "tenants_of", "whole"]

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


def _read(model: type[M], document: Whole, root: Path = ROOT) -> M:
    own, problems = _machines(document.data, root)
    if problems:
        raise wrong(document.source, [f"  {document.shown(place)}{problem}" for place, problem in problems])
    try:
        return model.model_validate(document.data, context=own)
    except ValidationError as errors:
        raise wrong(document.source, wrong_values.lines(errors, document, model)) from None


def _checked(settings: S, own: Whole, platform: Whole | None = None) -> S:
    """Return `settings` unless they contradict each other; what tenants have is in `own`, all else in `platform`."""
    problems = [
        f"  {_position_prefix(problem, settings, own, platform)}{problem}" for problem in consistency.problems(settings)
    ]
    if problems:
        raise wrong(own.source, problems)
    return settings.from_files(lambda place: _file_of(str(place[0]), own, platform).shown(place))


def _position_prefix(problem: str, settings: Settings, own: Whole, platform: Whole | None) -> str:
    """Return where the message of a rule says that its setting is."""
    document = _file_of(problem, own, platform)
    where = document.where(field_places.as_written(field_places.of_problem(problem, settings), document.data))
    return where if where or document is own else f"{document.source}: "


def _file_of(setting: str, own: Whole, platform: Whole | None) -> Whole:
    """Return what has a setting, or that with which a message begins."""
    return own if platform is None or setting.startswith((*TENANTS_PART, *OBJECTS_PART)) else platform


def _on_platform(document: Whole, stack: str, root: Path) -> Settings:
    """Return tenants with what is in the files that belong to them."""
    own = _read(TenantsFile, document)
    try:
        platform_document = whole(own.platform, root)
        if not isinstance(platform_document.data, Mapping) or "layer" not in platform_document.data:
            raise SettingsError(
                f"{platform_document.source} is not the file of a platform alone; write `layer: platform` there, and "
                f"move its {', '.join(TENANTS_PART)} to files such as this one"
            )
        platform = _checked(_read(PlatformLayer, platform_document, root), platform_document)
    except SettingsError as error:
        raise SettingsError(f"{document.shown(('platform',))}{own.platform!r} cannot be used\n{error}") from None
    neighbours = tuple(
        Neighbours(file=neighbour.source, tenants=_read(TenantsFile, neighbour).tenants)
        for name, neighbour in _tenants(own.platform, root)
        if name != stack and _is_example(name, root) == _is_example(stack, root)
    )
    return _checked(layer_settings.on(platform, own, neighbours), document, platform_document)


def tenants_of(platform: str, root: Path) -> list[str]:
    """Return the stacks whose files name `platform` as theirs; examples are tenants of an example's platform alone."""
    return [name for name, _ in _tenants(platform, root)]


def _tenants(platform: str, root: Path) -> Iterator[tuple[str, Whole]]:
    """Yield each stack of tenants of a platform with the settings in its file and its bases, as they are written."""
    named = re.compile(rf"platform[\"']?:\s*[\"']?{re.escape(platform)}\b")
    for name in dict.fromkeys(stack_names(root)):
        if _is_example(name, root) and not _is_example(platform, root):
            continue
        if any(named.search(text) for text in _file_texts(file(name, root), root)):
            document = whole(name, root)
            if isinstance(document.data, Mapping) and document.data.get("platform") == platform:
                yield name, document


def _file_texts(path: Path, root: Path, seen: tuple[Path, ...] = ()) -> Iterator[str]:
    """Yield the text of a file and of what may be its bases: reading all settings of a project would take long."""
    if path.is_file() and path not in seen:
        text = path.read_text(errors="replace")
        yield text
        for base in _BASE.findall(text):
            yield from _file_texts(root / base, root, (*seen, path))


def examples(root: Path) -> Path:
    """Return the folder of the examples of a checkout of the project."""
    return project.product_in(root) / "stacks" / "examples"


def stack_names(root: Path) -> list[str]:
    """Return the names of all stacks: those of the project, then the examples."""
    own = sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in root.glob("Pulumi.*.yaml"))
    return [*own, *sorted(path.stem for path in examples(root).glob("*.yaml"))]


def _is_example(stack: str, root: Path) -> bool:
    """Say whether the file of a stack is an example, which no stack of the project's own has beside it."""
    return not (root / f"Pulumi.{stack}.yaml").is_file() and (examples(root) / f"{stack}.yaml").is_file()


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
        f"no settings for stack {stack!r}: {own.name} is missing; known stacks: {', '.join(stack_names(root))}"
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


_MACHINES = "machines"


def _machines(data: Any, root: Path) -> tuple[dict[str, Profile], list[tuple[Place, str]]]:
    """Return the machines that `data` names by name, and what is wrong at which place; files are below `root`."""
    profiles: dict[str, Profile] = {}
    wrong: list[tuple[Place, str]] = []
    for index, path in enumerate(_machine_paths(data)):
        name = Path(path).stem
        try:
            if name in PROFILES or missing(name) or name in profiles:
                owner = "this list" if name in profiles else "core/hardware/machines"
                raise ValueError(f"{path}: {name} is a machine of {owner}, too; give the file another name")
            profiles[name] = read_machine(bases.file_of(path, root))
        except ValueError as error:
            wrong.append(((_MACHINES, index), str(error)))
    return profiles, wrong


def _machine_paths(data: Any) -> Iterator[str]:
    """Yield the paths, as far as they are some: what else is wrong is reported with the other fields."""
    named = data.get(_MACHINES) if isinstance(data, Mapping) else None
    yield from (path for path in named if isinstance(path, str)) if isinstance(named, list | tuple) else ()
