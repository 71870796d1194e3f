"""`./hpc upgrade check`: the steps from the versions that run to others, each with what is known of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
import yaml

from stacks.transitions import COMPONENTS, State, Verdict, minor
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_parts, print_text, print_warning, show_rows, styled
from toolkit.cli.shared.hazards import hazard_text
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption, print_json
from toolkit.cli.upgrade import ends, path
from toolkit.cli.upgrade.ends import End
from toolkit.cli.upgrade.patches import Patch, patches
from toolkit.cli.upgrade.path import Planned

FromOption = Annotated[
    str,
    typer.Option(
        "--from", metavar="cluster|state|SETTINGS", help="What runs: cluster, state, a stack, or a file of settings."
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="RELEASE|SETTINGS",
        help="A release of OpenShift, a stack, or a file of settings. Default: the stack's settings.",
    ),
]
_COLOURS = {
    Verdict.SUPPORTED: "green",
    Verdict.UNKNOWN: "yellow",
    Verdict.MANUAL: "yellow",
    Verdict.STOP: "red",
    Verdict.UNSUPPORTED: "red",
}


@dataclass(frozen=True)
class _Row:
    """A step with what it changes in the settings."""

    planned: Planned
    patch: Patch

    @property
    def refused(self) -> bool:
        return self.planned.verdict.refused or bool(self.patch.problems)


def command(
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    source: FromOption = ends.CLUSTER,
    target: ToOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show the steps from the versions that run to others.

    Before them come the hazards that the cluster shows. Each step has a verdict of its vendor, what to do before and
    after, what it restarts, and what it changes in the settings. Changes nothing. Exit status 1 where a step is not
    supported.
    """
    stack = stacks.read(stack_name, name)
    start = ends.start(source, stack)
    own = ends.of_settings(stack_name)
    written = own if start.data is None else start
    aim = ends.aim(target, start) if target else own
    planned = path.plan(start.versions, aim.versions)
    rows = [
        _Row(step, patch)
        for step, patch in zip(planned, patches(planned, written.data, written.words, aim.data), strict=True)
    ]
    if as_json:
        print_json(_data(start, aim, rows))
    else:
        _show(start, aim, rows, stack.options)
    raise typer.Exit(int(any(row.refused for row in rows)))


def _show(start: End, aim: End, rows: Sequence[_Row], options: str) -> None:
    for text in start.unread:
        print_warning(f"not read: {text}")
    for text in _ended(start):
        print_warning(text)
    hazard_text.show(start.hazards)
    if not rows:
        print_text(f"Nothing to do: {start.words} has the versions of {aim.words}.")
        return
    show_rows(
        f"From {start.words} to {aim.words}",
        ("", "component", "from", "to", "on OpenShift", "verdict", "restarts"),
        (
            (
                str(number),
                row.planned.step.component,
                row.planned.step.source,
                "" if row.planned.problem else row.planned.step.target,
                minor(row.planned.release),
                styled(_verdict(row), "red" if row.refused else _COLOURS[row.planned.verdict]),
                row.planned.step.restarts,
            )
            for number, row in enumerate(rows, 1)
        ),
    )
    for number, row in enumerate(rows, 1):
        _show_step(number, row)
    print_text(
        f"After each step: `./hpc diff {options}` shows what the settings change, `./hpc up {options}` applies it, "
        f"`./hpc status {options}` shows what is not ready, `./hpc verify {options}` judges jobs that ran again."
    )


def _show_step(number: int, row: _Row) -> None:
    step = row.planned.step
    print_parts(styled(f"{number}. {step.component} {'' if row.planned.problem else step.name}".strip(), "bold"))
    for label, texts in (
        ("not possible", (row.planned.problem,) if row.planned.problem else ()),
        ("known", step.reasons),
        ("before", step.before),
        ("avoid", _patches_to_avoid(row.planned)),
        ("settings", tuple(_lines(row.patch.values))),
        ("refused", tuple(row.patch.problems.splitlines()) if not row.planned.problem else ()),
        ("after", step.after),
        ("source", ("; ".join(step.sources),) if step.sources else ()),
    ):
        for index, text in enumerate(texts):
            print_text(f"   {f'{label}:' if not index else '':<13} {text}")


def _verdict(row: _Row) -> str:
    if row.patch.problems and not row.planned.problem:
        return "settings refused"
    return f"{row.planned.verdict}{', pools paused' if row.planned.step.paused else ''}"


def _patches_to_avoid(planned: Planned) -> tuple[str, ...]:
    component, step = COMPONENTS[planned.component], planned.step
    if planned.problem or minor(step.target) != step.target:
        return ()
    return tuple(f"{known.to or 'any'}: {known.reason}" for known in component.patches(step.target))


def _lines(values: Mapping[str, str | None]) -> list[str]:
    """Return settings as lines of YAML, as a file below `hpc:platform` has them."""
    tree: dict[str, Any] = {}
    for place, value in values.items():
        *parents, last = place.split(".")
        part = tree
        for parent in parents:
            part = part.setdefault(parent, {})
        part[last] = value
    return yaml.safe_dump(tree, sort_keys=False).splitlines() if tree else []


def _ended(start: End) -> Iterator[str]:
    for name, version in start.versions.items():
        component = COMPONENTS[name]
        known = component.versions.get(minor(version))
        if known and known.state in (State.ENDED, State.DEPRECATED):
            word = "its vendor has ended it" if known.state is State.ENDED else "deprecated by its vendor"
            yield f"{component.name} {version}: {word}{f' (until {known.until})' if known.until else ''}"


def _data(start: End, aim: End, rows: Sequence[_Row]) -> dict[str, Any]:
    return {
        "from": {"what": start.words, "versions": dict(start.versions), "unread": list(start.unread)},
        "hazards": hazard_text.data(start.hazards),
        "to": {"what": aim.words, "versions": dict(aim.versions)},
        "ended": list(_ended(start)),
        "supported": not any(row.refused for row in rows),
        "steps": [
            {
                "component": row.planned.component,
                "name": row.planned.step.component,
                "from": row.planned.step.source,
                "to": row.planned.step.target,
                "openshift": minor(row.planned.release),
                "verdict": str(row.planned.verdict),
                "poolsPaused": row.planned.step.paused,
                "reasons": [*row.planned.step.reasons, *filter(None, [row.planned.problem])],
                "before": list(row.planned.step.before),
                "avoid": list(_patches_to_avoid(row.planned)),
                "settings": dict(row.patch.values),
                "problems": row.patch.problems,
                "after": list(row.planned.step.after),
                "restarts": row.planned.step.restarts,
                "sources": list(row.planned.step.sources),
            }
            for row in rows
        ],
    }
