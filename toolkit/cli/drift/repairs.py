"""Repair what drifted, where the user asks for it: what can be re-applied, what is left, and why.

An update compares the program with the state, not with the cluster. So a repair is a `pulumi refresh` of exactly the
drifted resources, after which the state has them as they are, or no longer, and the update re-applies what the program
declares. A preview of both, which changes nothing, shows beforehand what would be replaced: that is left, unless the
user names it. What others have added beside what is declared is not seen by a provider, and stays for its owner.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.wording import some
from stacks.settings import transforms
from toolkit.cli.diff import engine_reviews
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review import live, paths, removal_commands
from toolkit.review.model import Change, Op, Resource, Review
from toolkit.review.sentences import path

_REPLACES = ("replace", "create-replacement", "delete-replaced")
_INVALID = "422, "
_NOTHING = ("same", "read", "refresh")
_SHOWN = 4  # paths of one object


@dataclass(frozen=True)
class Left:
    """A drifted object that is not repaired."""

    resource: Resource
    why: str
    command: str = ""
    """What removes that from the cluster; the user decides on it."""
    replaceable: bool = False
    """Whether the engine replaces the object where the user names it."""


@dataclass(frozen=True)
class Repair:
    """What a repair does, and what it leaves."""

    again: tuple[Change, ...]
    """Drifted and gone objects that the update re-applies or creates again."""
    left: tuple[Left, ...] = ()
    added: tuple[tuple[Resource, str], ...] = ()
    """Objects of which the update re-applies something, and what others have added there."""

    @property
    def targets(self) -> list[str]:
        """Options of the engine that name the resources."""
        return [word for change in self.again for word in ("--target", change.resource.urn)]


def require_possible(options: str, *, repair: bool, replace: Collection[str] | None, plan: Path | None) -> None:
    """Raise Problem for options of a repair that do not fit together."""
    if repair and plan is not None:
        raise Problem(
            "--plan and --repair: a plan restricts the update to what was approved, and contains no repair",
            f"Run `./hpc up {options} --repair` first, then write the plan; or omit --repair.",
        )
    if replace and not repair:
        raise Problem("--replace requires --repair", "Add --repair.")


def proposed(stack: Stack, running: Engine, cluster: Cluster, agreed: Collection[str] = ()) -> Repair:
    """Return what a repair would do; nothing is changed. `agreed` are the names of objects that may be replaced.

    Raises Problem where drift could not be determined, or an agreed name is none of a drifted object.
    """
    if stack.backend is not None and not stack.backend.checkpoint(stack.name).get("resources"):
        return Repair(())
    review = engine_reviews.drift(stack, running)
    if review.failed:
        raise Problem(f"what drifted could not be determined, and nothing was changed: {review.failed}")
    unknown = set(agreed) - {label(change.resource) for change in review.changed}
    if unknown:
        raise Problem(
            f"--replace names what has not drifted: {', '.join(sorted(unknown))}",
            f"Give names as KIND/NAMESPACE/NAME, of objects that `./hpc drift {stack.options}` shows.",
        )
    sorted_out = sort_out(review, lambda resource: refused(resource, cluster), agreed)
    if not sorted_out.again:
        return sorted_out
    failures: dict[str, str] = {}
    status, log, last = running.run_preview("what the repair does", "preview", "--refresh", *sorted_out.targets)
    if status != 0 and not (failures := _failures(log, sorted_out)):
        raise Problem(
            f"what the repair would do could not be determined, and nothing was changed:\n{last}",
            f"If the settings have changed as well: `./hpc up {stack.options}` first.",
        )
    return held(sorted_out, _operations(log), failures, agreed)


def sort_out(review: Review, refusal: Callable[[Resource], str], agreed: Collection[str]) -> Repair:
    """Return what of a drift may be repaired, by the API server's answer for each object."""
    again: list[Change] = []
    left: list[Left] = []
    added: list[tuple[Resource, str]] = []
    for change in review.changed:
        if change.op is Op.DELETE or change.before is None or change.after is None:
            again.append(change)
            continue
        seen = change.after
        extra = removal_commands.added(change)
        if extra and removal_commands.is_only_additions(change):
            left.append(
                Left(seen, f"others added {_listed(extra)}", removal_commands.patch_command(change, review.kubectl))
            )
        elif label(seen) not in agreed and (why := refusal(change.before)):
            deletion = removal_commands.deletion_command(seen, review.kubectl)
            left.append(Left(seen, f"the API server refuses: {why}", deletion, replaceable=True))
        else:
            again.append(change)
            if extra:
                added.append((seen, _listed(extra)))
    return Repair(tuple(again), tuple(left), tuple(added))


def held(repair: Repair, operations: Mapping[str, str], failures: Mapping[str, str], agreed: Collection[str]) -> Repair:
    """Return a repair without what the preview of it would replace, cannot do, or does not see."""
    again, left = [], list(repair.left)
    for change in repair.again:
        resource = change.resource
        operation = operations.get(resource.urn, "")
        if resource.urn in failures:
            left.append(Left(resource, failures[resource.urn]))
        elif operation in _REPLACES and change.op is not Op.DELETE and label(resource) not in agreed:
            left.append(Left(resource, "it would be replaced", replaceable=True))
        elif operation in ("", *_NOTHING):
            gone = change.op is Op.DELETE
            why = "it is gone, and the settings do not declare it" if gone else "the provider sees no difference in it"
            left.append(Left(resource, why))
        else:
            again.append(change)
    return Repair(tuple(again), tuple(left), repair.added)


def show(repair: Repair, options: str) -> None:
    """Print what is repaired, and what is not; `options` name the stack on a command line."""
    for change in repair.again:
        print_text(f"repair: {_line(change)}")
    for resource, extra in repair.added:
        text = f"{resource.kind} {path(resource)}: others added {extra}, which the update may remove as well"
        print_text(f"with it: {text}")
    for left in repair.left:
        lines = [f"not repaired: {left.resource.kind} {path(left.resource)}: {left.why}", *_remedies(left, options)]
        print_text("\n  ".join(lines))
    if not (repair.again or repair.left):
        print_text("nothing has drifted")


def _remedies(left: Left, options: str) -> Iterator[str]:
    if left.replaceable:
        yield f"replace it: ./hpc up {options} --repair --replace {label(left.resource)}"
    if left.command:
        yield f"{'or delete' if left.replaceable else 'remove'} it: {left.command}"


def carry_out(running: Engine, repair: Repair) -> None:
    """Let the engine read the drifted resources into the state; the update that follows repairs them."""
    if repair.again:
        running.call("refresh", "--yes", "--skip-preview", "--stack", running.stack, *repair.targets)


def refused(resource: Resource, cluster: Cluster) -> str:
    """Return why the server would refuse an object as it is declared, by a dry run; "" where it would not."""
    if resource.is_patch:
        return ""  # of an object of another owner
    try:
        live_object = cluster.find(resource.api_version, resource.kind, resource.namespace, resource.object_name)
        if live_object is not None:
            cluster.dry_run(live.repaired(resource, live_object).body)
    except RefusedError as error:
        # A user without the right to a dry run learns of it in the update.
        return _short(error.reason) if error.reason.startswith(_INVALID) else ""
    return ""


def label(resource: Resource) -> str:
    """Return how a command line names an object."""
    return transforms.named(resource.kind, resource.namespace, resource.object_name)


def _line(change: Change) -> str:
    name = f"{change.resource.kind} {path(change.resource)}"
    if change.op is Op.DELETE:
        return f"{name} is gone, and is created again"
    before, after = (dict(resource.inputs) if resource else {} for resource in (change.before, change.after))
    return f"{name}: {_listed(paths.differing(before, after))}"


def _listed(fields: Iterable[paths.Path]) -> str:
    return some([paths.show(field) for field in fields], _SHOWN)


def _operations(log: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return what a preview does with each resource; the refresh before it has events of its own."""
    steps = (event["resourcePreEvent"]["metadata"] for event in log if "resourcePreEvent" in event)
    operations: dict[str, str] = {}
    for step in steps:
        if step["op"] not in ("refresh", "read") and operations.get(step["urn"]) not in _REPLACES:
            operations[step["urn"]] = step["op"]
    return operations


def _failures(log: Iterable[Mapping[str, Any]], repair: Repair) -> dict[str, str]:
    """Return errors of a preview that are about what is repaired; none where there are others as well."""
    ours = {change.resource.urn for change in repair.again}
    errors = [*_errors(log)]
    if any(urn not in ours for urn, _ in errors):
        return {}
    return dict(errors)


def _errors(log: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for event in log:
        diagnostic = event.get("diagnosticEvent") or {}
        if diagnostic.get("severity") == "error" and diagnostic.get("urn"):
            yield diagnostic["urn"], _short(str(diagnostic.get("message", "")))


def _short(reason: str) -> str:
    text = reason.removeprefix(_INVALID).strip()
    return text.splitlines()[0].strip().rstrip(".") if text else ""
