"""The settings of an environment, from its file.

`Pulumi.<stack>.yaml` holds them under the key `hpc:platform`; examples are in `stacks/examples/`. Nothing else
reads the configuration. A file of tenants names a platform, whose file is read, too, and those of its other tenants.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pulumi
import yaml
from pydantic import BaseModel, ValidationError

from apis import yaml_text
from stacks import layer_settings
from stacks.checks import InconsistentError
from stacks.layer_settings import TENANTS_PART, Neighbours, PlatformLayer, TenantsFile
from stacks.platform import Settings

__all__ = ["KEY", "PROJECT", "Settings", "SettingsError", "file", "known", "load", "parse", "tenants_of"]

PROJECT = "hpc"
KEY = "platform"
EXAMPLES = Path("stacks", "examples")
ROOT = Path(__file__).resolve().parent.parent
_SECRET = re.compile(r"secret|passw|token|credential|login", re.IGNORECASE)
"""Names of fields whose values are not shown: secrets are mistaken for what is said of them."""
_REMEDIES = {
    "extra_forbidden": "; remove it or correct its name",
    "missing": "; add it: docs/settings.md says what it takes",
    "too_short": "; write one more",
    "too_long": "; leave some out",
    "string_pattern_mismatch": "; write it in that form: docs/settings.md says what it is",
    "literal_error": "; write one of these",
    "enum": "; write one of these",
    "union_tag_invalid": "; write one of these",
    "union_tag_not_found": "; say which kind it is: docs/settings.md lists them",
}
"""What to do about errors, by pydantic's name of them; those with a bound or a type in their message say it."""
_NO_TENANTS = (
    "; name one, or write `layer: platform` in place of it: a platform whose last tenant is to go (docs/layers.md)",
    "; name one: the last tenant goes with its whole stack (docs/layers.md)",
)
"""Of a file with all layers, and of one with tenants alone."""
M = TypeVar("M", bound=BaseModel)


class SettingsError(pulumi.RunError):
    """The settings of a stack are wrong; the message names every field, its value and the remedy."""


def parse(data: Any, source: str, stack: str = "", root: Path = ROOT) -> Settings:
    """Return the settings in `data`; raise SettingsError, which lists all errors and names `source`.

    Of tenants alone the files that belong to them are read from `root`; `stack` is then the name of this one.
    """
    if data is None:
        raise SettingsError(f"{source}: {PROJECT}:{KEY} is missing; Pulumi.dev.yaml is an example")
    if isinstance(data, Mapping) and "platform" in data:
        return _on_platform(_read(TenantsFile, data, source), data, source, stack, root)
    layered = isinstance(data, Mapping) and "layer" in data
    return _read(PlatformLayer if layered else Settings, data, source)


def _read(model: type[M], data: Any, source: str) -> M:
    try:
        return model.model_validate(data)
    except ValidationError as errors:
        raise _wrong(errors, data, source) from None


def _wrong(errors: ValidationError, data: Any, source: str, platform: str = "") -> SettingsError:
    found = [line for error in _causes(errors.errors(include_url=False)) for line in _lines(error, data, platform)]
    return SettingsError(f"{source}: {len(found)} wrong\n" + "\n".join(found))


def _on_platform(own: TenantsFile, data: Any, source: str, stack: str, root: Path) -> Settings:
    """Return tenants with what is in the files that belong to them."""
    try:
        path = file(own.platform, root)
        content = _content(path)
        if not isinstance(content, Mapping) or "layer" not in content:
            raise SettingsError(
                f"{path.name} is not the file of a platform alone; write `layer: platform` there, and move its "
                f"{', '.join(TENANTS_PART)} to files such as this one"
            )
        there = _read(PlatformLayer, content, path.name)
    except SettingsError as error:
        raise SettingsError(f"{source}: {PROJECT}:{KEY}.platform: {own.platform!r} cannot be used\n{error}") from None
    neighbours = tuple(
        Neighbours(file=each.name, tenants=_read(TenantsFile, content, each.name).tenants)
        for name, each, content in _tenants(own.platform, root)
        if name != stack
    )
    try:
        return layer_settings.on(there, own, neighbours)
    except ValidationError as errors:
        raise _wrong(errors, data, source, path.name) from None


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
    """Leave out that a list is too short where that is only because of what is wrong inside it."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(place[: len(error["loc"])] == error["loc"] != place for place in places)
    ]


def _path(place: Sequence[str | int], data: Any) -> Iterator[str]:
    """Yield the parts of a place as the file has them: without the names of variants, which pydantic puts in."""
    for index, part in enumerate(place):
        if isinstance(part, str) and isinstance(data, Mapping):
            if part not in data and index + 1 < len(place):
                continue
            data = data.get(part)
        elif isinstance(part, int) and isinstance(data, Sequence):
            data = data[part] if part < len(data) else None
        yield str(part)


def _lines(error: Any, data: Any, platform: str) -> list[str]:
    """Return an error as lines: one, or one for each problem between settings; those of `platform` name that file."""
    path = ".".join([f"{PROJECT}:{KEY}", *_path(error["loc"], data)])
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, InconsistentError):
        return [f"  {_theirs(problem, platform)}{path}: {problem}" for problem in cause.found]
    message = error["msg"].removeprefix("Value error, ")
    value, unknown = error["input"], error["type"] == "extra_forbidden"
    # Logs are read by many: what somebody has written where no field is, or for a secret, may be one.
    told = not unknown and not _SECRET.search(path.rpartition(".")[2])
    shown = f" (value: {value!r})" if told and isinstance(value, str | int | float | bool) else ""
    return [f"  {path}: {message}{shown}{_remedy(error, data)}"]


def _remedy(error: Any, data: Any) -> str:
    """Return what to do about an error of which pydantic says only what is wrong."""
    if error["loc"] == ("tenants",) and error["type"] in ("too_short", "missing"):
        return _NO_TENANTS["platform" in data]
    return _REMEDIES.get(error["type"], "")


def _theirs(problem: str, platform: str) -> str:
    """Return how a problem begins that a setting in the platform's file has: every problem begins with a setting."""
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
