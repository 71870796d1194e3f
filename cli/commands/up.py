"""`./hpc up`: everything from the tools to the finished jobs. `make up` runs it."""

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import generations, identity, layers, passphrases, placements, session, state, tables
from cli import stack as stacks
from cli.backends import choice
from cli.commands.options import DEFAULT_STACK, BackendOption, OtherName, PolicyOption, StackOption
from cli.commands.status import look
from cli.console import Reporter, Timings, console, errors
from cli.engine import Engine
from cli.events import Account
from cli.memory import Peak
from cli.overview.jobs import FAILED
from cli.policy_configuration import policy_arguments, settled
from cli.reviewing import asking, plans, repairs
from cli.stack import Stack
from simulator import cluster, tools
from simulator.starting import needed_tools

_SHOWN = 6
"""Errors that the last message repeats; all of them stand above it."""
_SUMMARIES = ("preview failed", "update failed")

PlanOption = Annotated[
    Path | None, typer.Option("--plan", help="A plan of `./hpc diff --plan`: do what it says and nothing else.")
]
RepairOption = Annotated[
    bool,
    typer.Option(
        "--repair/--no-repair",
        help="Make also what drifted as declared again (`./hpc drift` shows it); not with a plan.",
    ),
]


def command(
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    config: PolicyOption = None,
    plan: PlanOption = None,
    repair: RepairOption = True,
    backend: BackendOption = None,
) -> None:
    """Bring a stack up: build what is missing, start its simulated cluster, run `pulumi up`, show the jobs."""
    wanted = stacks.read(stack, name)
    wanted.require_served()
    wanted.require_passable()
    if plan is not None:
        plans.require_stack(plan, wanted.name)
    policies = settled(wanted.settings, config)
    timings = Timings()
    with session.alone(wanted), _peak(wanted) as peak:
        session.choose_backend(wanted, backend)
        state.require_own_cluster(wanted)
        layers.require_platform(wanted)
        layers.require_split(wanted)
        layers.tell_refused(wanted)
        generations.require_fitting(wanted)
        _tools(wanted, timings)
        running, standing = _cluster(wanted, timings)
        _prepared(wanted, running, standing, timings)
        repairs.clear(wanted, running)  # of an update that was killed
        try:
            if repair and plan is None:
                repairs.mark(wanted, running, session.cluster(wanted))
            if plan is not None:
                plans.require(plan, plans.ground(wanted, running, asking.drift(wanted, running)), wanted.options)
            status, account = _update(wanted, running, policies, timings, plan)
        finally:
            repairs.clear(wanted, running)
    found = look(wanted)
    own = {tenant.namespace for tenant in wanted.settings.tenants}
    failed = [f"{job.namespace}/{job.name}" for job in found.jobs if job.state == FAILED and job.namespace in own]
    if status != 0 or failed:
        errors.print(verdict(wanted, account, failed), markup=False)
        raise typer.Exit(1)
    tables.show(found)
    tables.show_times(timings.steps, peak.bytes if peak else 0)
    console.print(f"stack {stack} is up: {account.changed()}", markup=False)


def _tools(wanted: Stack, timings: Timings) -> None:
    with timings.step("tools"):
        names = ("pulumi", *(needed_tools(wanted.spec()) if wanted.simulated else ()))
        missing = tools.missing(names)
        reused = [tool for tool in names if tool not in missing]
        if reused:
            console.print(f"reusing {', '.join(reused)}", markup=False)
        tools.ensure(names, Reporter())
        session.say_plugins(tools.find("pulumi"))


def _cluster(wanted: Stack, timings: Timings) -> tuple[Engine, identity.Standing]:
    with timings.step("cluster"):
        if wanted.simulated:
            state.require_cluster_of_state(wanted)
            started = cluster.up(generations.fitting(wanted), progress=Reporter())
            if started.reused:
                console.print(f"reusing simulated cluster {started.name} at {started.server}", markup=False)
            choice.make_bucket(wanted.home)
        running = session.engine(wanted)  # not before: an object store has its port when it has been started
        return running, identity.require(wanted, session.cluster(wanted), wanted.backend, running)


def _prepared(wanted: Stack, running: Engine, standing: identity.Standing, timings: Timings) -> None:
    with timings.step("state"):
        session.prepare(wanted, running)
        state.settle(wanted, running, session.cluster(wanted))
        identity.note(wanted, running, standing)


def _update(
    wanted: Stack, running: Engine, policies: dict[str, Any], timings: Timings, plan: Path | None
) -> tuple[int, Account]:
    placements.show(wanted.settings)
    planned = ["--plan", str(plan.absolute())] if plan else []
    with timings.step("pulumi up"), policy_arguments(policies) as arguments:
        return running.watched(f"pulumi up, stack {wanted.name}", wanted.log, "up", "--yes", *arguments, *planned)


def _peak(wanted: Stack) -> Peak | nullcontext[None]:
    return Peak(wanted.home) if wanted.simulated else nullcontext()


def verdict(wanted: Stack, account: Account, failed: list[str]) -> str:
    """Return the last message of an update that failed: what stands above is told shortly, not again."""
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
            f"If an update of this stack was cut off: `./hpc state repair {wanted.options}` takes what it made into "
            f"the state. What somebody else made: `./hpc adopt {wanted.options}`."
        )
    if any(plans.broken(message.text) for message in others):
        new = f"`./hpc diff {wanted.options} --plan FILE` makes a new plan, and shows it."
        lines.append(f"It would do what its plan does not say; {new}")
    lines += [f"failed: {', '.join(account.failed)}"] if account.failed else []
    lines += [f"jobs that failed: {', '.join(failed)}"] if failed else []
    lines.append(f"`./hpc status {wanted.options}` shows what is on the cluster.")
    if wanted.simulated:
        lines.append(f"What the engine printed is in {wanted.log}; logs of the cluster are beside it.")
    return "\n".join(lines)
