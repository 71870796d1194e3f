"""The settings of an environment, from its file.

`Pulumi.<stack>.yaml` holds them under the key `hpc:platform`; examples are in `stacks/examples/`. Nothing else
reads the configuration. A file of tenants names a platform, whose file is read, too, and those of its other tenants.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pulumi
import yaml
from pydantic import BaseModel, ValidationError

from apis import yaml_text
from apis.errors import UserError
from stacks import consistency, field_names, layer_settings, machines
from stacks.cluster_settings import entries
from stacks.layer_settings import TENANTS_PART, Neighbours, PlatformLayer, TenantsFile
from stacks.platform import Settings

__all__ = ["KEY", "PROJECT", "Settings", "SettingsError", "file", "known", "load", "parse", "tenants_of"]

PROJECT = "hpc"
KEY = "platform"
EXAMPLES = Path("stacks", "examples")
ROOT = Path(__file__).resolve().parent.parent
_SECRET = re.compile(r"secret|passw|token|credential|login", re.IGNORECASE)
"""Names of fields whose values are not shown: users may write a secret into one that describes it."""
_REMEDIES = {
    "extra_forbidden": "; remove it or correct its name",
    "missing": "; add it: docs/settings.md describes it",
    "too_short": "; write one more",
    "too_long": "; leave some out",
    "string_pattern_mismatch": "; write it in that form: docs/settings.md describes it",
    "literal_error": "; write one of these",
    "tuple_type": "; write a list, e.g. [a, b]",
    "enum": "; write one of these",
    "union_tag_invalid": "; write one of these",
    "union_tag_not_found": "; give its kind: docs/settings.md lists them",
}
"""Remedies by pydantic's name of an error; messages with a bound or a type are their own."""
_NO_TENANTS = (
    "; name one, or write `layer: platform` in place of it: a platform without tenants (docs/layers.md)",
    "; name one: the last tenant is removed with its whole stack (docs/layers.md)",
)
"""Of a file with all layers, and of one with tenants alone."""
M = TypeVar("M", bound=BaseModel)
S = TypeVar("S", bound=Settings)


class SettingsError(pulumi.RunError, UserError):
    """The settings of a stack are wrong; the message names every field, its value and the remedy."""


def parse(data: Any, source: str, stack: str = "", root: Path = ROOT) -> Settings:
    """Return the settings in `data`; raise SettingsError, which lists all errors and names `source`.

    Of tenants alone the files that belong to them are read from `root`; `stack` is then the name of this one.
    """
    if data is None:
        raise SettingsError(f"{source}: {PROJECT}:{KEY} is missing; Pulumi.dev.yaml is an example")
    if isinstance(data, Mapping) and "platform" in data:
        return _on_platform(_read(TenantsFile, data, source), source, stack, root)
    layered = isinstance(data, Mapping) and "layer" in data
    return _checked(_read(PlatformLayer if layered else Settings, data, source, root), source)


def _read(model: type[M], data: Any, source: str, root: Path = ROOT) -> M:
    own, wrong = machines.read(data, root)
    if wrong:
        raise _wrong(source, [f"  {PROJECT}:{KEY}.{problem}" for problem in wrong])
    try:
        return model.model_validate(data, context=own)
    except ValidationError as errors:
        causes = _as_written(_causes(errors.errors(include_url=False)), data)
        raise _wrong(source, list(dict.fromkeys(_line(error, data, model) for error in causes))) from None


def _checked(settings: S, source: str, platform: str = "") -> S:
    """Return `settings` unless they contradict each other; a problem of a setting in the file `platform` names it."""
    found = [f"  {_file_of(problem, platform)}{PROJECT}:{KEY}: {problem}" for problem in consistency.problems(settings)]
    if found:
        raise _wrong(source, found)
    return settings


def _wrong(source: str, found: list[str]) -> SettingsError:
    return SettingsError(f"{source}: {len(found)} wrong\n" + "\n".join(found))


def _on_platform(own: TenantsFile, source: str, stack: str, root: Path) -> Settings:
    """Return tenants with what is in the files that belong to them."""
    try:
        path = file(own.platform, root)
        content = _content(path)
        if not isinstance(content, Mapping) or "layer" not in content:
            raise SettingsError(
                f"{path.name} is not the file of a platform alone; write `layer: platform` there, and move its "
                f"{', '.join(TENANTS_PART)} to files such as this one"
            )
        platform = _checked(_read(PlatformLayer, content, path.name, root), path.name)
    except SettingsError as error:
        raise SettingsError(f"{source}: {PROJECT}:{KEY}.platform: {own.platform!r} cannot be used\n{error}") from None
    neighbours = tuple(
        Neighbours(file=each.name, tenants=_read(TenantsFile, content, each.name).tenants)
        for name, each, content in _tenants(own.platform, root)
        if name != stack
    )
    return _checked(layer_settings.on(platform, own, neighbours), source, path.name)


def tenants_of(platform: str, root: Path) -> list[str]:
    """Return the stacks whose files name `platform` as theirs."""
    return [name for name, _, _ in _tenants(platform, root)]


def _tenants(platform: str, root: Path) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
    """Yield each stack of tenants of a platform with its file and the settings in it, as they are written."""
    for name in known(root):
        path = file(name, root)
        if re.search(rf"platform[\"']?:\s*[\"']?{re.escape(platform)}\b", path.read_text(errors="replace")):
            content = _content(path)
            if isinstance(content, Mapping) and content.get("platform") == platform:
                yield name, path, content


def _causes(errors: Sequence[Any]) -> list[Any]:
    """Leave out that a list is too short where an error inside it is the cause."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(place[: len(error["loc"])] == error["loc"] != place for place in places)
    ]


def _as_written(errors: Sequence[Any], data: Any) -> Iterator[Any]:
    """Yield the errors with places as in the file, where nodes with a range are one entry."""
    for error in errors:
        match error["loc"]:
            case ("nodes", int(index), *rest):
                yield {**error, "loc": ("nodes", entries(data["nodes"])[index], *rest)}
            case _:
                yield error


def _path(place: Sequence[str | int], data: Any) -> Iterator[str]:
    """Yield the parts of a place as in the file: without the names of variants, which pydantic adds."""
    for index, part in enumerate(place):
        if isinstance(part, str) and isinstance(data, Mapping):
            if part not in data and index + 1 < len(place):
                continue
            data = data.get(part)
        elif isinstance(part, int) and isinstance(data, Sequence):
            data = data[part] if part < len(data) else None
        yield str(part)


def _line(error: Any, data: Any, model: type[BaseModel]) -> str:
    path = ".".join([f"{PROJECT}:{KEY}", *_path(error["loc"], data)])
    message = error["msg"].removeprefix("Value error, ")
    value, unknown = error["input"], error["type"] == "extra_forbidden"
    # Logs are read by many: the value of an unknown field, or of a secret's name, may be a secret.
    public = not unknown and not _SECRET.search(path.rpartition(".")[2])
    shown = f" (value: {value!r})" if public and isinstance(value, str | int | float | bool) else ""
    return f"  {path}: {message}{shown}{_remedy(error, data, model)}"


def _remedy(error: Any, data: Any, model: type[BaseModel]) -> str:
    """Return what to do about an error whose message names only what is wrong."""
    if error["loc"] == ("tenants",) and error["type"] in ("too_short", "missing"):
        return _NO_TENANTS["platform" in data]
    if error["type"] == "extra_forbidden":
        meant = field_names.closest(model, error["loc"], _written(error["loc"][:-1], data))
        return f"; did you mean {meant}?" if meant else _REMEDIES["extra_forbidden"]
    return _REMEDIES.get(error["type"], "")


def _written(place: Sequence[str | int], data: Any) -> Collection[str]:
    """Return the names that are written at a place."""
    for part in place:
        if isinstance(part, int) or (isinstance(data, Mapping) and part in data):
            data = data[part]
    return data.keys() if isinstance(data, Mapping) else ()


def _file_of(problem: str, platform: str) -> str:
    """Return the prefix that names the platform's file, for a problem that begins with a setting of that file."""
    return f"{platform}: " if platform and not problem.startswith(TENANTS_PART) else ""


def known(root: Path) -> list[str]:
    """Return the names of all stacks: those of the project, then the examples."""
    own = sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in root.glob("Pulumi.*.yaml"))
    return [*own, *sorted(path.stem for path in (root / EXAMPLES).glob("*.yaml"))]


def file(stack: str, root: Path) -> Path:
    """Return the file with the settings of `stack`; raise SettingsError, naming the known ones, when there is none."""
    own = root / f"Pulumi.{stack}.yaml"
    example = root / EXAMPLES / f"{stack}.yaml"
    if own.is_file():
        return own
    # A name with a slash would lead elsewhere.
    if example.is_file() and example.parent == root / EXAMPLES:
        return example
    raise SettingsError(
        f"no settings for stack {stack!r}: {own.name} is missing; known stacks: {', '.join(known(root))}"
    )


def load(stack: str, root: Path) -> Settings:
    """Return the settings of `stack` from its file below `root`, without the engine."""
    path = file(stack, root)
    return parse(_content(path), path.name, stack, root)


def _content(path: Path) -> Any:
    """Return what a file holds under our key; None where it has none."""
    try:
        content = yaml_text.read(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path.name} is not YAML: {error}") from None
    config = content.get("config") if isinstance(content, Mapping) else None
    return config.get(f"{PROJECT}:{KEY}") if isinstance(config, Mapping) else None
