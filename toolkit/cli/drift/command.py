"""`./hpc drift`: how the cluster differs from the program."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from toolkit.cli.diff import engine_reviews, presentation, stack_status
from toolkit.cli.diff.command import JsonOption, OutputOption
from toolkit.cli.drift import repairs as repair_plans
from toolkit.cli.shared import identity, operator_channels, session, state_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.exit_status import Judging
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
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
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    output: OutputOption = None,
    as_json: JsonOption = None,
    repairs: RepairsOption = False,
) -> None:
    """Show how the cluster differs from the program.

    Changes nothing. Exit status 0 without drift; 1 with drift, after an interrupted update, where the settings
    declare objects that no update has created, or where an operator has another version than its channel; 2 where that
    could not be determined.
    """
    with presentation.always(stack, output, as_json, drift=True):
        wanted = stacks.read(stack, name)
        review = _looked(wanted)
        presentation.present(review, output, as_json)
        if review.failed:
            raise typer.Exit(UNDETERMINED)
        if review.changed and repairs:
            _show_repairs(wanted)
        elif review.changed:
            print_text(f"`./hpc up {wanted.options} --repair` re-applies what is declared")
        if review.changed or review.ending or review.cautions:
            raise typer.Exit(DRIFTED)


def _show_repairs(wanted: Stack) -> None:
    proposed = repair_plans.proposed(wanted, session.engine(wanted), session.cluster(wanted))
    repair_plans.show(proposed, wanted.options)


def _looked(wanted: Stack) -> Review:
    wanted.require_served()
    state_checks.require_own_cluster(wanted)
    running = session.engine(wanted)
    session.require_provider(wanted, running.program)
    cluster = session.cluster(wanted)
    identity.require(wanted, cluster, wanted.backend, running)
    session.prepare(wanted, running)
    update = stack_status.last_update(wanted)
    review = engine_reviews.drift(wanted, running)
    if not review.changes and not review.failed:
        raise Problem(f"stack {wanted.name} has no state here", f"`./hpc up {wanted.options}` brings it up.")
    if review.failed:
        return replace(review, cautions=tuple(update.cautions(wanted.options)), unsettled=update.unsettled)
    own = list(review.objects(after=True))
    ending = {(each.kind, each.path): each for each in (*stack_status.seen(own), *stack_status.ending(cluster, own))}
    ahead = () if update.running else engine_reviews.ahead(wanted, running)
    return replace(
        review,
        cautions=(*update.cautions(wanted.options), *ahead, *_operators(wanted, cluster)),
        unsettled=update.unsettled,
        ending=tuple(ending[key] for key in sorted(ending)),
    )


def _operators(wanted: Stack, cluster: Cluster) -> Iterator[str]:
    """Yield a sentence for each operator whose installed version is not the one that the settings declare."""
    for each in operator_channels.examine(wanted.settings, cluster):
        if each.late:
            subject = f"Subscription {named(each.subscription)}" if each.subscription else named(each.operator.package)
            yield f"{subject}: {quoted(each.difference)}"
        elif each.unread:
            print_warning(f"{each.place}.channel {each.operator.channel} could not be checked: {each.unread}")
