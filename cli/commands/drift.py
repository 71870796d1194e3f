"""`./hpc drift`: what on the cluster is not as declared."""

from dataclasses import replace

import typer

from cli import identity, session, state
from cli import stack as stacks
from cli.commands.diff import JsonOption, OutputOption
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.console import console
from cli.errors import Problem
from cli.judging import Judging
from cli.reviewing import asking, results, standing
from cli.stack import Stack
from review.model import Review

DRIFTED, UNTOLD = 1, 2


class _Drifting(Judging):
    """A command whose statuses are those of `diff`: 1 is a difference, 2 is trouble."""

    unjudged = UNTOLD


KIND = _Drifting


def command(
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    output: OutputOption = None,
    as_json: JsonOption = None,
) -> None:
    """Show what on the cluster is not as declared; changes nothing.

    Ends with 0 when there is no drift, with 1 when there is, when the last update was cut off or the settings declare
    what no update has made, and with 2 when that cannot be told.
    """
    with results.always(stack, output, as_json, drift=True):
        wanted = stacks.read(stack, name)
        review = _looked(wanted)
        results.present(review, output, as_json)
        if review.failed:
            raise typer.Exit(UNTOLD)
        if review.changed:
            console.print(f"`./hpc up {wanted.options}` makes it as declared again", markup=False)
        if review.changed or review.ending or review.cautions:
            raise typer.Exit(DRIFTED)


def _looked(wanted: Stack) -> Review:
    wanted.require_served()
    state.require_own_cluster(wanted)
    running = session.engine(wanted)
    cluster = session.cluster(wanted)
    identity.require(wanted, cluster, wanted.backend, running)
    session.prepare(wanted, running)
    stands = standing.of(wanted)
    review = asking.drift(wanted, running)
    if not review.changes and not review.failed:
        raise Problem(f"stack {wanted.name} has no state here", f"`./hpc up {wanted.options}` brings it up.")
    if review.failed:
        return replace(review, cautions=tuple(stands.told(wanted.options)))
    own = list(review.objects(after=True))
    ending = {(each.kind, each.path): each for each in (*standing.seen(own), *standing.ending(cluster, own))}
    ahead = () if stands.running else asking.ahead(wanted, running)
    return replace(
        review,
        cautions=(*stands.told(wanted.options), *ahead),
        ending=tuple(ending[key] for key in sorted(ending)),
    )
