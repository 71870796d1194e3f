"""Options of the engine by which a command would work on another stack than the one that was checked."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stacks.loading.settings import PROJECT
from toolkit.cli.shared.environment import SETTINGS
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack

_STACK, _FILE, _FOLDER = "--stack", "--config-file", "--cwd"
_LONG = (_STACK, _FILE, _FOLDER)
_SHORT = {"s": _STACK, "C": _FOLDER}
_VALUED = "cDmptv"
"""Short options with a value: what follows them in the same word is it."""
_PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml", "Pulumi.json")


def require_same(stack: Stack, environment: Mapping[str, str], arguments: Sequence[str], here: Path) -> None:
    """Raise Problem unless arguments for the engine, given in folder `here`, mean `stack` and its settings, too.

    The cluster that is checked, and noted, is that of `stack`. The engine would follow its own options.
    """
    options = [*_options(arguments)]
    folder = here / next((value for option, value in reversed(options) if option == _FOLDER), "")
    if (project := _project(folder)) not in (None, ROOT):
        raise Problem(
            f"the engine would run the project in {project}, and stack {stack.name} is of {ROOT}",
            "Call this from a folder without a project, or from there; without -C.",
        )
    settings = Path(environment.get(SETTINGS) or stack.file)
    for option, value in options:
        if option == _STACK and value not in (stack.name, f"organization/{PROJECT}/{stack.name}"):
            raise Problem(
                f"{option} {value} for the engine, and the cluster that is checked is that of stack {stack.name}",
                f"Say once which stack you mean, ahead of the engine's command: `./hpc pulumi --stack {value} ...`.",
            )
        if option == _FILE and (folder / value).resolve() != settings.resolve():
            raise Problem(
                f"{option} {value} for the engine, and stack {stack.name} on this cluster has the settings {settings}",
                f"Leave {option} out: `./hpc pulumi` gives the engine the settings of its stack.",
            )


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options that name a stack, a file of settings or a folder, with their values, as the engine reads them."""
    left = iter(arguments)
    for word in left:
        if word == "--":
            return
        name, equals, value = word.partition("=")
        if name in _LONG:
            yield name, value if equals else next(left, "")
        elif word[:1] == "-" and word[:2] != "--":
            yield from _short(word[1:], left)


def _short(letters: str, left: Iterator[str]) -> Iterator[tuple[str, str]]:
    for place, letter in enumerate(letters, start=1):
        if letter in _SHORT:
            rest = letters[place:]
            yield _SHORT[letter], rest.removeprefix("=") or next(left, "")
        if letter in _SHORT or letter in _VALUED:
            return


def _project(folder: Path) -> Path | None:
    start = folder.resolve()
    return next(
        (
            candidate
            for candidate in (start, *start.parents)
            if any((candidate / name).is_file() for name in _PROJECT_FILES)
        ),
        None,
    )
