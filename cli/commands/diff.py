"""`./hpc diff`: what a change means, in the platform's words, for a reviewer."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cli import generations, session, state
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, PolicyOption, StackOption
from cli.console import console
from cli.errors import Problem
from cli.policy_configuration import settled
from cli.reviewing import already, announcing, asking, commits, plans, results, standing
from cli.stack import Stack
from review.model import Review

OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="File for the comment, in Markdown.")]
JsonOption = Annotated[Path | None, typer.Option("--json", help="File for the same as JSON.")]
PlanOption = Annotated[
    Path | None,
    typer.Option("--plan", help="File for a plan, which `./hpc up --plan` holds the update to; for its owner alone."),
]

BaseOption = Annotated[
    str | None, typer.Option("--base", help="Compare with this commit, without engine and cluster (pull requests).")
]
HeadOption = Annotated[str, typer.Option("--head", help="The commit to compare it with.")]


def command(
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    config: PolicyOption = None,
    output: OutputOption = None,
    as_json: JsonOption = None,
    plan: PlanOption = None,
    base: BaseOption = None,
    head: HeadOption = commits.WORKING_TREE,
) -> None:
    """Show what an update would change, and what that means; changes nothing.

    Ends with 0 when the change is shown, however much it is; with 1 when the preview failed, the cluster could not be
    asked, or a mandatory policy is violated. The comment is written all the same, and says so.
    """
    with results.always(stack, output, as_json):
        if base is not None:
            if plan is not None or name is not None:
                raise Problem("commits are compared without a cluster", "Leave --plan and --name out, or --base.")
            review = commits.compare(stack, base, head, config)
            results.present(review, output, as_json)
            raise typer.Exit(int(results.refused(review)))
        wanted = stacks.read(stack, name)
        review = _previewed(wanted, config, plan)
        results.present(review, output, as_json)
        if plan and not results.refused(review):
            console.print(f"`./hpc up {wanted.options} --plan {plan}` does this and nothing else", markup=False)
        raise typer.Exit(int(results.refused(review)))


def _previewed(wanted: Stack, config: Path | None, plan: Path | None) -> Review:
    wanted.require_served()
    wanted.require_passable()
    state.require_own_cluster(wanted)
    generations.require_fitting(wanted)
    policies = settled(wanted.settings, config)
    running = session.engine(wanted)
    unanswered = asking.unanswered(wanted, running)
    if unanswered and plan is not None:
        raise unanswered  # a plan stands on what the cluster holds
    session.say_plugins(running.program)
    session.prepare(wanted, running)
    stands = standing.of(wanted)
    if plan is None:
        review = announcing.announced(
            asking.preview(wanted, running, policies), None if unanswered else announcing.look(wanted, running)
        )
        return _told(wanted, review, stands, unanswered)
    with plans.fresh() as made:
        # Before the preview: what changes meanwhile makes the plan unfit, and is not missed.
        drifted = asking.drift(wanted, running)
        stands_on = plans.ground(wanted, running, drifted)
        review = announcing.announced(asking.preview(wanted, running, policies, made), drifted)
        plan.unlink(missing_ok=True)
        if made.is_file() and not results.refused(review):
            plans.keep(made, stands_on, plan)
        elif not results.refused(review):
            raise Problem("the engine has made no plan", "Run it again without --plan to see what it says.")
    return _told(wanted, review, stands)


def _told(wanted: Stack, review: Review, stands: standing.Standing, unanswered: Problem | None = None) -> Review:
    """Return the review with what to know before all else."""
    known = replace(review, cautions=tuple(stands.told(wanted.options)))
    if unanswered:
        return replace(known, cluster_asked=False, unanswered=str(unanswered))
    cluster = session.cluster(wanted)
    # What an unfinished update has made is there as well, and the next one takes it.
    there = () if known.cautions else already.told(review, cluster.find, wanted.options)
    ending = standing.ending(cluster, review.objects(after=False))
    return replace(known, cautions=(*known.cautions, *there), ending=ending)
