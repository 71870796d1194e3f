"""The settings of an environment, from its file.

`Pulumi.<stack>.yaml` holds them under the key `hpc:platform`; examples are in `stacks/examples/`. Nothing else
reads the configuration.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi
import yaml
from pydantic import ValidationError

from apis import yaml_text
from stacks.checks import InconsistentError
from stacks.platform import Settings

__all__ = ["KEY", "PROJECT", "Settings", "SettingsError", "file", "known", "load", "parse"]

PROJECT = "hpc"
KEY = "platform"
EXAMPLES = Path("stacks", "examples")


class SettingsError(pulumi.RunError):
    """The settings of a stack are wrong; the message names every field, its value and the remedy."""


def parse(data: Any, source: str) -> Settings:
    """Return the settings in `data`; raise SettingsError, which lists all errors and names `source`."""
    if data is None:
        raise SettingsError(f"{source}: {PROJECT}:{KEY} is missing; Pulumi.dev.yaml is an example")
    try:
        return Settings.model_validate(data)
    except ValidationError as errors:
        lines = [line for error in _causes(errors.errors(include_url=False)) for line in _lines(error, data)]
        raise SettingsError(f"{source}: {len(lines)} wrong\n" + "\n".join(lines)) from None


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


def _lines(error: Any, data: Any) -> list[str]:
    """Return an error as lines: one, or one for each problem between settings."""
    path = ".".join([f"{PROJECT}:{KEY}", *_path(error["loc"], data)])
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, InconsistentError):
        return [f"  {path}: {problem}" for problem in cause.found]
    message = error["msg"].removeprefix("Value error, ")
    value = error["input"]
    shown = f" (value: {value!r})" if isinstance(value, str | int | float | bool) else ""
    remedy = "; remove it or correct its name" if error["type"] == "extra_forbidden" else ""
    return [f"  {path}: {message}{shown}{remedy}"]


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
    try:
        content = yaml_text.read(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path.name} is not YAML: {error}") from None
    config = content.get("config") if isinstance(content, Mapping) else None
    return parse(config.get(f"{PROJECT}:{KEY}") if isinstance(config, Mapping) else None, path.name)
