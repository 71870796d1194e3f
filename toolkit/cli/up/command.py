"""`./hpc up`: everything from the tools to the finished jobs. `make up` runs it."""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.cli.diff import engine_reviews, plans
from toolkit.cli.drift import repairs
from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import interrupted
from toolkit.cli.shared.console import Reporter, Timings, print_notice, print_text, show_times
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import WRONG_PASSPHRASE
from toolkit.cli.shared.events import Account
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, PolicyOption, StackOption
from toolkit.cli.shared.policy_configuration import policy_arguments, settled
from toolkit.cli.shared.preflight import update_checks
from toolkit.cli.shared.preflight.operator_channels import Examined
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status.command import look, show_overview
from toolkit.cli.status.jobs import FAILED
from toolkit.cli.up import after_update, previews
from toolkit.cli.up.previews import Repetition
from toolkit.cli.up.waits.watcher import Watcher
from toolkit.engine import tools
from toolkit.review import events, summary

if TYPE_CHECKING:
    from toolkit.cli.shared.simulated.cluster import Peak

_SHOWN = 6
"""Errors that the last message repeats; all of them are above it."""
_SUMMARIES = ("preview failed", "update failed")

PlanOption = Annotated[
    Path | None, typer.Option("--plan", help="Plan of `./hpc diff --plan`: apply it and nothing else.")
]
RepairOption = Annotated[
    bool, typer.Option("--repair", help="Re-apply what drifted (`./hpc drift` shows it); not with a plan.")
]
ReplaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--replace", metavar="KIND/NAMESPACE/NAME", help="With --repair: a drifted object that may be replaced."
    ),
]
BackendOption = Annotated[
    str | None,
    typer.Option(
        "--backend",
        metavar="s3|URL",
        help="Backend of a new simulated cluster: s3 (a simulated object store), s3://BUCKET?... or file:///FOLDER. "
        "Default: a folder of the cluster.",
    ),
]


def command(
    *,
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    config: PolicyOption = None,
    plan: PlanOption = None,
    repair: RepairOption = False,
    replace: ReplaceOption = None,
    backend: BackendOption = None,
) -> None:
    """Bring a stack up and show its jobs.

    Builds missing tools, starts the stack's simulated cluster if it has one, and runs `pulumi up` with the policies.
    """
    stack = stacks.read(stack_name, name)
    stack.require_served()
    stack.require_passable()
    repairs.require_possible(stack.options, repair=repair, replace=replace, plan=plan)
    if plan is not None:
        plans.require_stack(plan, stack.name)
    policies = settled(stack.settings, config)
    timings = Timings()
    with session.exclusive(stack), _peak(stack) as peak:
        session.choose_backend(stack, backend)
        stack_checks.require_own_cluster(stack)
        stack_checks.require_platform(stack)
        stack_checks.require_split(stack)
        stack_checks.warn_of_refused(stack)
        stack_checks.require_fitting(stack)
        _tools(stack, timings)
        running, match = _cluster(stack, timings)
        checked = update_checks.require(stack, session.cluster(stack))
        checked.show()
        _prepared(stack, running, match, timings)
        if repair:
            _repaired(stack, running, timings, replace or ())
        if plan is not None:
            plans.require(plan, plans.ground(stack, running, engine_reviews.drift(stack, running)), stack.options)
        status, account = _update(stack, running, policies, timings, plan)
        behind = _behind(stack, account, checked.operators) if status == 0 else ()
    overview = look(stack)
    own = {tenant.namespace for tenant in stack.settings.tenants}
    failed = [f"{job.namespace}/{job.name}" for job in overview.jobs if job.state == FAILED and job.namespace in own]
    if status != 0 or failed or behind:
        print_notice(verdict(stack, account, failed, behind))
        raise typer.Exit(1)
    show_overview(overview)
    show_times(timings.steps, peak.bytes if peak else 0)
    print_text(f"stack {stack_name} is up; {summary.counted(events.counted(account.steps))}")


def _tools(stack: Stack, timings: Timings) -> None:
    with timings.step("tools"):
        names = ("pulumi", *_tools_of_cluster(stack))
        missing = tools.missing(names)
        reused = [tool for tool in names if tool not in missing]
        if reused:
            print_text(f"reusing {', '.join(reused)}")
        tools.ensure(names, Reporter())
        session.print_plugins(stack, tools.find("pulumi"))


def _cluster(stack: Stack, timings: Timings) -> tuple[Engine, identity.ClusterMatch]:
    with timings.step("cluster"):
        if stack.simulated:
            from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

            stack_checks.require_cluster_of_state(stack)
            started = cluster.start(stack)
            if started.reused:
                print_text(f"reusing simulated cluster {started.name} at {started.server}")
        running = session.engine(stack)  # not before: an object store has its port when it has been started
        return running, identity.require(stack, session.cluster(stack), stack.backend, running)


def _prepared(stack: Stack, running: Engine, match: identity.ClusterMatch, timings: Timings) -> None:
    with timings.step("state"):
        session.prepare(stack, running)
        interrupted.settle(stack, running, session.cluster(stack))
        identity.record(stack, running, match)


def _repaired(stack: Stack, running: Engine, timings: Timings, agreed: Collection[str]) -> None:
    with timings.step("drift"):
        repair = repairs.proposed(stack, running, session.cluster(stack), agreed)
        repairs.show(repair, stack.options)
        repairs.carry_out(running, repair)


def _update(
    stack: Stack, running: Engine, policies: dict[str, Any], timings: Timings, plan: Path | None
) -> tuple[int, Account]:
    update_checks.show_placements(stack.settings)
    repetition = Repetition(stack, running, policies)
    cluster, more, operations = session.cluster(stack), repetition.begin(), 0
    if plan:
        more = ("--plan", str(plan.absolute()))
    elif not more:
        with timings.step("preview"):
            more, operations = previews.show_removed_fields(stack, running, policies, cluster)
    waits = Watcher(cluster, stack.settings.timeouts.failed_after)
    title = f"pulumi up, stack {stack.name}"
    with timings.step("pulumi up"), policy_arguments(policies) as arguments, waits.watch():
        status, account = running.run_update(
            title, stack.log, "up", "--yes", *arguments, *more, observer=waits, planned=operations
        )
    if status == 0:
        repetition.succeed()
    return status, account


def _behind(stack: Stack, account: Account, before: Sequence[Examined]) -> tuple[str, ...]:
    cluster = session.cluster(stack)
    operators = after_update.behind(stack, cluster, before)
    return operators or after_update.former_drivers(account, cluster, stack.settings.timeouts.failed_after)


def _tools_of_cluster(stack: Stack) -> tuple[str, ...]:
    if not stack.simulated:
        return ()
    from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

    return cluster.needed_tools(stack)


def _peak(stack: Stack) -> "AbstractContextManager[Peak | None]":
    if not stack.simulated:
        return nullcontext()
    from toolkit.cli.shared.simulated.cluster import Peak  # noqa: PLC0415 - for simulated clusters alone

    return Peak(stack.home)


def verdict(stack: Stack, account: Account, failed: list[str], behind: Sequence[str] = ()) -> str:
    """Return the last message of an update that failed: messages above are summarised, not repeated.

    `behind`: operators that OLM has not brought to what is declared, and drivers whose pods nothing replaces.
    """
    lines = [f"stack {stack.name} is not up"]
    wrong = [message for message in account.messages if message.severity == "error"]
    violations = Counter(message.policy for message in wrong if message.policy)
    if violations:
        named = ", ".join(f"{policy} ({number})" for policy, number in sorted(violations.items()))
        lines.append(f"mandatory policies, {violations.total()} violations, all above: {named}")
    others = [message for message in wrong if not message.policy and message.text not in _SUMMARIES]
    lines += [f"{message.name}: {message.text}" if message.name else message.text for message in others[:_SHOWN]]
    lines += [f"... and {len(others) - _SHOWN} more, above"] if len(others) > _SHOWN else []
    if any("incorrect passphrase" in message.text for message in others):
        lines.append(WRONG_PASSPHRASE)
    if any("already exists" in message.text for message in others):
        lines.append(
            f"If an update of this stack was interrupted: `./hpc state repair {stack.options}` adds what it created "
            f"to the state. Objects of other origin: `./hpc state adopt {stack.options}`."
        )
    if any(plans.broken(message.text) for message in others):
        new = f"`./hpc diff {stack.options} --plan FILE` writes a new plan, and shows it."
        lines.append(f"The update differs from its plan; {new}")
    if account.ended is not None:
        lines.append("Remove the cause, and run the same command again; it continues from there.")
    lines += [f"failed: {', '.join(account.failed)}"] if account.failed else []
    lines += [f"jobs that failed: {', '.join(failed)}"] if failed else []
    lines += behind
    lines.append(f"`./hpc status {stack.options}` shows what is on the cluster.")
    if stack.simulated:
        lines.append(f"What the engine printed is in {stack.log}; logs of the cluster are beside it.")
    return "\n".join(lines)
