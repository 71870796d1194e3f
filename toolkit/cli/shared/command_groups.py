"""Commands and groups of commands, made from modules that are imported when they are called."""

import importlib
from collections.abc import Mapping
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from core import project


def built(name: str, module: str, *, epilog: str | None = None, passes_on: bool = False) -> TyperCommand | TyperGroup:
    """Return the command of a module, its `command` or, for several commands, its Typer `app`.

    `KIND` of the module is the class of the command, where it is another than Typer's. `passes_on` is whether options
    that are not its own go to the engine.
    """
    imported: Any = importlib.import_module(module)
    single = typer.Typer(callback=_nothing, add_completion=False)
    if hasattr(imported, "app"):
        single.add_typer(imported.app, name=name, epilog=epilog)
    else:
        single.command(
            name,
            cls=getattr(imported, "KIND", TyperCommand),
            context_settings={"allow_extra_args": passes_on, "ignore_unknown_options": passes_on},
            epilog=epilog,
        )(imported.command)
    command = cast("TyperCommand | TyperGroup", get_group(single).commands[name])
    _unwrap(command)
    return command


def group(summary: str, modules: Mapping[str, str]) -> typer.Typer:
    """Return a group of commands, each of which is in a module."""

    class Group(TyperGroup):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.commands = dict.fromkeys(modules, TyperCommand(None))

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
            return list(modules)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
            return built(cmd_name, modules[cmd_name]) if cmd_name in modules else None

    return typer.Typer(cls=Group, callback=_nothing, no_args_is_help=True, help=summary)


def _nothing() -> None:
    """Make a group of a single command, by its presence."""


def _unwrap(command: Any) -> None:
    """Make each paragraph of the help one line, which the terminal breaks at its own width."""
    paragraphs = project.located(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for parameter in command.params:
        parameter.help = project.located(getattr(parameter, "help", None) or "")
    for inner in getattr(command, "commands", {}).values():
        _unwrap(inner)
