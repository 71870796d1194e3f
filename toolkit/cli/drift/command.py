"""`./hpc drift`: how the cluster differs from the program."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from toolkit.cli.diff import engine_reviews, presentation, stack_status
from toolkit.cli.diff.command import JsonOption, OutputOption
from toolkit.cli.drift import repairs as repair_plans
from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.errors import Judging, Problem
from toolkit.cli.shared.hazards import examination
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from toolkit.cli.shared.preflight import operator_channels
from toolkit.cli.shared.stack import Stack
from toolkit.review.model import Review
from toolkit.review.sentences import name as named
from toolkit.review.sentences import quoted

DRIFTED, UNDETERMINED = 1, 2


class _Drifting(Judging):
    """A command whose statuses are those of `diff`: 1 is a difference, 2 is trouble."""

    unjudged = UNDETERMINED


KIND = _Drifting

RepairsOption = Annotated[
    bool, typer.Option("--repairs", help="Show also what `./hpc up --repair` would re-apply, and what it leaves.")
]


def command(
    *,
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    output: OutputOption = None,
    as_json: JsonOption = None,
    repairs: RepairsOption = False,
) -> None:
    """Show how the cluster differs from the program.

    Changes nothing. Exit status 0 without drift; 1 with drift, after an interrupted update, where the settings
    declare objects that no update has created, or where an operator has another version than its channel; 2 where that
    could not be determined. Hazards of the site are shown and do not count: no update of the stack removes them.
    """
    with presentation.always(stack_name, output, as_json, drift=True):
        stack = stacks.read(stack_name, name)
        review = _reviewed(stack)
        presentation.present(review, output, as_json)
        if review.failed:
            raise typer.Exit(UNDETERMINED)
        if review.changed and repairs:
            _show_repairs(stack)
        elif review.changed:
            print_text(f"`./hpc up {stack.options} --repair` re-applies what is declared")
        if review.changed or review.ending or review.cautions:
            raise typer.Exit(DRIFTED)


def _show_repairs(stack: Stack) -> None:
    proposed = repair_plans.proposed(stack, session.engine(stack), session.cluster(stack))
    repair_plans.show(proposed, stack.options)


def _reviewed(stack: Stack) -> Review:
    stack.require_served()
    stack_checks.require_own_cluster(stack)
    running = session.engine(stack)
    session.require_provider(stack, running.program)
    cluster = session.cluster(stack)
    identity.require(stack, cluster, stack.backend, running)
    session.prepare(stack, running)
    update = stack_status.last_update(stack)
    review = engine_reviews.drift(stack, running)
    if not review.changes and not review.failed:
        raise Problem(f"stack {stack.name} has no state here", f"`./hpc up {stack.options}` brings it up.")
    if review.failed:
        return replace(review, cautions=tuple(update.cautions(stack.options)), unsettled=update.unsettled)
    own = list(review.objects(after=True))
    ending = {
        (object_ending.kind, object_ending.path): object_ending
        for object_ending in (*stack_status.seen(own), *stack_status.ending(cluster, own))
    }
    ahead = () if update.running else engine_reviews.ahead(stack, running)
    return replace(
        review,
        cautions=(*update.cautions(stack.options), *ahead, *_operators(stack, cluster)),
        hazards=tuple(_hazards(stack, cluster)),
        unsettled=update.unsettled,
        ending=tuple(ending[key] for key in sorted(ending)),
    )


def _hazards(stack: Stack, cluster: Cluster) -> Iterator[str]:
    """Return a sentence for each hazard of the site; what could not be checked is a warning."""
    hazards = examination.examine(stack.settings, cluster)
    if text := examination.unchecked(hazards):
        print_warning(text)
    return examination.sentences(hazards)


def _operators(stack: Stack, cluster: Cluster) -> Iterator[str]:
    """Yield a sentence for each operator whose installed version is not the one that the settings declare."""
    for result in operator_channels.examine(stack.settings, cluster):
        if result.late:
            subject = (
                f"Subscription {named(result.subscription)}" if result.subscription else named(result.operator.package)
            )
            yield f"{subject}: {quoted(result.difference)}"
        elif result.unread:
            print_warning(f"{result.place}.channel {result.operator.channel} could not be checked: {result.unread}")
