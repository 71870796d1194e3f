"""`./hpc diff`: what a change means, for a reviewer."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from stacks.layers import adoption
from stacks.settings import transforms
from stacks.settings.transforms import named
from toolkit.cli.diff import commits, engine_reviews, live_objects, plans, presentation, stack_status
from toolkit.cli.shared import session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, PolicyOption, StackOption, file_option
from toolkit.cli.shared.policy_configuration import settled
from toolkit.cli.shared.preflight import constraints, update_checks
from toolkit.cli.shared.stack import Stack
from toolkit.review.model import Review
from toolkit.review.sentences import path

OutputOption = Annotated[Path | None, file_option("File for the comment, in Markdown")]
JsonOption = Annotated[Path | None, typer.Option("--json", help="File for the same content as JSON.")]
PlanOption = Annotated[
    Path | None,
    typer.Option("--plan", help="File for a plan that only its owner may read; `./hpc up --plan` applies it."),
]

BaseOption = Annotated[
    str | None, typer.Option("--base", help="Compare with this commit, without engine and cluster (pull requests).")
]
HeadOption = Annotated[str, typer.Option("--head", help="Commit to compare with --base.")]


def command(
    *,
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    config: PolicyOption = None,
    output: OutputOption = None,
    as_json: JsonOption = None,
    plan: PlanOption = None,
    base: BaseOption = None,
    head: HeadOption = commits.WORKING_TREE,
) -> None:
    """Show what an update would change and what it means.

    Changes nothing. Exit status 0 when the change is shown, however large; 1 when the preview failed, the cluster did
    not answer, or a mandatory policy is violated. The comment is written in each case, and reports it.
    """
    with presentation.always(stack_name, output, as_json):
        if base is not None:
            if plan is not None or name is not None:
                raise Problem("commits are compared without a cluster", "Leave --plan and --name out, or --base.")
            review = commits.compare(stack_name, base, head, config)
            presentation.present(review, output, as_json)
            raise typer.Exit(int(presentation.refused(review)))
        stack = stacks.read(stack_name, name)
        review = _previewed(stack, config, plan)
        presentation.present(review, output, as_json)
        if plan and not presentation.refused(review):
            print_text(f"`./hpc up {stack.options} --plan {plan}` applies this and nothing else")
        raise typer.Exit(int(presentation.refused(review)))


def _previewed(stack: Stack, config: Path | None, plan: Path | None) -> Review:
    stack.require_served()
    stack.require_passable()
    stack_checks.require_own_cluster(stack)
    stack_checks.require_fitting(stack)
    policies = settled(stack.settings, config)
    running = session.engine(stack)
    unanswered = engine_reviews.unanswered(stack, running)
    if unanswered and plan is not None:
        raise unanswered  # a plan depends on the cluster's state
    facts = () if unanswered else update_checks.require(stack, session.cluster(stack)).sentences
    chosen = session.print_plugins(stack, running.program)
    before = tuple(filter(None, [session.provider_caution(stack, chosen)]))
    session.prepare(stack, running)
    update = stack_status.last_update(stack)
    if plan is None:
        review = engine_reviews.with_drift(
            engine_reviews.preview(stack, running, policies),
            None if unanswered else engine_reviews.drift_if_up(stack, running),
        )
        return _with_context(stack, replace(review, cautions=before), update, unanswered, facts)
    with plans.fresh() as made:
        # Before the preview: what changes meanwhile makes the plan unfit, and is not missed.
        drifted = engine_reviews.drift(stack, running)
        ground = plans.ground(stack, running, drifted)
        review = engine_reviews.with_drift(engine_reviews.preview(stack, running, policies, made), drifted)
        plan.unlink(missing_ok=True)
        if made.is_file() and not presentation.refused(review):
            plans.store(made, ground, plan)
        elif not presentation.refused(review):
            raise Problem("the engine wrote no plan", "Run it again without --plan to see its output.")
    return _with_context(stack, replace(review, cautions=before), update, facts=facts)


def _with_context(
    stack: Stack,
    review: Review,
    update: stack_status.LastUpdate,
    unanswered: Problem | None = None,
    facts: tuple[str, ...] = (),
) -> Review:
    """Return the review with what to know before all else; `facts`: sentences about the cluster as it is."""
    cautions = (*review.cautions, *update.cautions(stack.options))
    settled_review = replace(review, cautions=cautions, unsettled=update.unsettled)
    if unanswered:
        return replace(settled_review, cluster_queried=False, unanswered=str(unanswered))
    if review.failed:
        # Of a part of the objects nothing follows about those that are not in it.
        return replace(settled_review, cautions=(*settled_review.cautions, *facts))
    cluster = session.cluster(stack)
    # What an unfinished update has made is there as well, and the next one takes it.
    met = () if settled_review.unsettled else live_objects.cautions(review, cluster, stack.options)
    declared = {*_declared(review)}
    stray = (
        *transforms.unused(stack.settings.extra, declared),
        *adoption.misspelt(stack.settings.adopted, declared),
    )
    own = {(resource.kind, path(resource)) for after in (False, True) for resource in review.objects(after=after)}
    others = constraints.cautions(constraints.examine(stack.settings, cluster, own))
    ending = stack_status.ending(cluster, review.objects(after=False))
    return replace(settled_review, cautions=(*settled_review.cautions, *facts, *met, *stray, *others), ending=ending)


def _declared(review: Review) -> Iterator[str]:
    """Yield the names of objects as settings have them; patches are of others' objects.

    The official provider writes the namespace `default` into the inputs of a new object of the cluster.
    """
    for resource in review.objects(after=True):
        if not resource.is_patch:
            yield named(resource.kind, resource.namespace, resource.object_name)
            if resource.namespace == "default":
                yield named(resource.kind, "", resource.object_name)
