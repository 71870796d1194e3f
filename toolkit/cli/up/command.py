"""`./hpc up`: everything from the tools to the finished jobs. `make up` runs it."""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.cli.diff import engine_reviews, plans
from toolkit.cli.drift import repairs
from toolkit.cli.shared import (
    cluster_checks,
    identity,
    layers,
    passphrases,
    placements,
    session,
    state_checks,
)
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import state_repair
from toolkit.cli.shared.console import Reporter, Timings, print_notice, print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.events import Account
from toolkit.cli.shared.operator_channels import Examined
from toolkit.cli.shared.options import DEFAULT_STACK, BackendOption, OtherName, PolicyOption, StackOption
from toolkit.cli.shared.policy_configuration import policy_arguments, settled
from toolkit.cli.shared.stack import Stack
from toolkit.cli.shared.tables import show_times
from toolkit.cli.status import tables
from toolkit.cli.status.command import look
from toolkit.cli.status.jobs import FAILED
from toolkit.cli.up import first_preview, former_drivers, installed_operators
from toolkit.cli.up.repetition import Repetition
from toolkit.cli.up.waits.watcher import Watcher
from toolkit.engine import tools
from toolkit.review import events, summary

if TYPE_CHECKING:
    from toolkit.cli.shared.simulated.memory import Peak

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


def command(
    *,
    stack: StackOption = DEFAULT_STACK,
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
    wanted = stacks.read(stack, name)
    wanted.require_served()
    wanted.require_passable()
    repairs.require_possible(wanted.options, repair=repair, replace=replace, plan=plan)
    if plan is not None:
        plans.require_stack(plan, wanted.name)
    policies = settled(wanted.settings, config)
    timings = Timings()
    with session.exclusive(wanted), _peak(wanted) as peak:
        session.choose_backend(wanted, backend)
        state_checks.require_own_cluster(wanted)
        layers.require_platform(wanted)
        layers.require_split(wanted)
        layers.warn_of_refused(wanted)
        state_checks.require_fitting(wanted)
        _tools(wanted, timings)
        running, match = _cluster(wanted, timings)
        checked = cluster_checks.require(wanted, session.cluster(wanted))
        checked.show()
        _prepared(wanted, running, match, timings)
        if repair:
            _repaired(wanted, running, timings, replace or ())
        if plan is not None:
            plans.require(plan, plans.ground(wanted, running, engine_reviews.drift(wanted, running)), wanted.options)
        status, account = _update(wanted, running, policies, timings, plan)
        behind = _behind(wanted, account, checked.operators) if status == 0 else ()
    found = look(wanted)
    own = {tenant.namespace for tenant in wanted.settings.tenants}
    failed = [f"{job.namespace}/{job.name}" for job in found.jobs if job.state == FAILED and job.namespace in own]
    if status != 0 or failed or behind:
        print_notice(verdict(wanted, account, failed, behind))
        raise typer.Exit(1)
    tables.show(found)
    show_times(timings.steps, peak.bytes if peak else 0)
    print_text(f"stack {stack} is up; {summary.counted(events.counted(account.steps))}")


def _tools(wanted: Stack, timings: Timings) -> None:
    with timings.step("tools"):
        names = ("pulumi", *_tools_of_cluster(wanted))
        missing = tools.missing(names)
        reused = [tool for tool in names if tool not in missing]
        if reused:
            print_text(f"reusing {', '.join(reused)}")
        tools.ensure(names, Reporter())
        session.print_plugins(wanted, tools.find("pulumi"))


def _cluster(wanted: Stack, timings: Timings) -> tuple[Engine, identity.ClusterMatch]:
    with timings.step("cluster"):
        if wanted.simulated:
            from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

            state_checks.require_cluster_of_state(wanted)
            started = cluster.start(wanted)
            if started.reused:
                print_text(f"reusing simulated cluster {started.name} at {started.server}")
        running = session.engine(wanted)  # not before: an object store has its port when it has been started
        return running, identity.require(wanted, session.cluster(wanted), wanted.backend, running)


def _prepared(wanted: Stack, running: Engine, match: identity.ClusterMatch, timings: Timings) -> None:
    with timings.step("state"):
        session.prepare(wanted, running)
        state_repair.settle(wanted, running, session.cluster(wanted))
        identity.record(wanted, running, match)


def _repaired(wanted: Stack, running: Engine, timings: Timings, agreed: Collection[str]) -> None:
    with timings.step("drift"):
        found = repairs.proposed(wanted, running, session.cluster(wanted), agreed)
        repairs.show(found, wanted.options)
        repairs.carry_out(running, found)


def _update(
    wanted: Stack, running: Engine, policies: dict[str, Any], timings: Timings, plan: Path | None
) -> tuple[int, Account]:
    placements.show(wanted.settings)
    repetition = Repetition(wanted, running, policies)
    there, more, operations = session.cluster(wanted), repetition.begin(), 0
    if plan:
        more = ("--plan", str(plan.absolute()))
    elif not more:
        with timings.step("preview"):
            more, operations = first_preview.show(wanted, running, policies, there)
    waits = Watcher(there, wanted.settings.timeouts.failed_after)
    title = f"pulumi up, stack {wanted.name}"
    with timings.step("pulumi up"), policy_arguments(policies) as arguments, waits.watch():
        status, account = running.run_update(
            title, wanted.log, "up", "--yes", *arguments, *more, observer=waits, planned=operations
        )
    if status == 0:
        repetition.succeed()
    return status, account


def _behind(wanted: Stack, account: Account, before: Sequence[Examined]) -> tuple[str, ...]:
    there = session.cluster(wanted)
    operators = installed_operators.behind(wanted, there, before)
    return operators or former_drivers.kept(account, there, wanted.settings.timeouts.failed_after)


def _tools_of_cluster(wanted: Stack) -> tuple[str, ...]:
    if not wanted.simulated:
        return ()
    from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

    return cluster.needed_tools(wanted)


def _peak(wanted: Stack) -> "AbstractContextManager[Peak | None]":
    if not wanted.simulated:
        return nullcontext()
    from toolkit.cli.shared.simulated.memory import Peak  # noqa: PLC0415 - for simulated clusters alone

    return Peak(wanted.home)


def verdict(wanted: Stack, account: Account, failed: list[str], behind: Sequence[str] = ()) -> str:
    """Return the last message of an update that failed: messages above are summarised, not repeated.

    `behind`: operators that OLM has not brought to what is declared, and drivers whose pods nothing replaces.
    """
    lines = [f"stack {wanted.name} is not up"]
    wrong = [message for message in account.messages if message.severity == "error"]
    violations = Counter(message.policy for message in wrong if message.policy)
    if violations:
        named = ", ".join(f"{policy} ({number})" for policy, number in sorted(violations.items()))
        lines.append(f"mandatory policies, {violations.total()} violations, all above: {named}")
    others = [message for message in wrong if not message.policy and message.text not in _SUMMARIES]
    lines += [f"{message.name}: {message.text}" if message.name else message.text for message in others[:_SHOWN]]
    lines += [f"... and {len(others) - _SHOWN} more, above"] if len(others) > _SHOWN else []
    if any("incorrect passphrase" in message.text for message in others):
        lines.append(f"Correct {passphrases.PASSPHRASE}, or the file that {passphrases.FILE} names.")
    if any("already exists" in message.text for message in others):
        lines.append(
            f"If an update of this stack was interrupted: `./hpc state repair {wanted.options}` adds what it created "
            f"to the state. Objects of other origin: `./hpc state adopt {wanted.options}`."
        )
    if any(plans.broken(message.text) for message in others):
        new = f"`./hpc diff {wanted.options} --plan FILE` writes a new plan, and shows it."
        lines.append(f"The update differs from its plan; {new}")
    if account.ended is not None:
        lines.append("Remove the cause, and run the same command again; it continues from there.")
    lines += [f"failed: {', '.join(account.failed)}"] if account.failed else []
    lines += [f"jobs that failed: {', '.join(failed)}"] if failed else []
    lines += behind
    lines.append(f"`./hpc status {wanted.options}` shows what is on the cluster.")
    if wanted.simulated:
        lines.append(f"What the engine printed is in {wanted.log}; logs of the cluster are beside it.")
    return "\n".join(lines)
