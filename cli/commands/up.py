"""`./hpc up`: everything from the tools to the finished jobs. `make up` runs it."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import typer

from cli import generations, identity, passphrases, placements, session, state, tables
from cli import stack as stacks
from cli.backends import choice
from cli.commands.options import DEFAULT_STACK, BackendOption, OtherName, PolicyOption, StackOption
from cli.commands.status import look
from cli.console import Reporter, Timings, console, errors
from cli.engine import Engine
from cli.events import Account
from cli.memory import Peak
from cli.overview.jobs import FAILED
from cli.places import POLICIES
from cli.policy_configuration import settled
from cli.stack import Stack
from simulator import cluster, tools
from simulator.starting import needed_tools

_SHOWN = 6
"""Errors that the last message repeats; all of them stand above it."""
_SUMMARIES = ("preview failed", "update failed")


def command(
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    config: PolicyOption = None,
    backend: BackendOption = None,
) -> None:
    """Bring a stack up: build what is missing, start its simulated cluster, run `pulumi up`, show the jobs."""
    wanted = stacks.read(stack, name)
    wanted.require_served()
    policies = settled(wanted.settings, config)
    timings = Timings()
    with session.alone(wanted), _peak(wanted) as peak:
        session.choose_backend(wanted, backend)
        state.require_own_cluster(wanted)
        generations.fitting(wanted)
        _tools(wanted, timings)
        running, standing = _cluster(wanted, timings)
        status, account = _update(wanted, running, standing, policies, timings)
    found = look(wanted)
    failed = [f"{job.namespace}/{job.name}" for job in found.jobs if job.state == FAILED]
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


def _update(
    wanted: Stack, running: Engine, standing: identity.Standing, policies: dict[str, Any], timings: Timings
) -> tuple[int, Account]:
    with timings.step("state"):
        session.prepare(wanted, running)
        state.settle(wanted, running, session.cluster(wanted))
        identity.note(wanted, running, standing)
    placements.show(wanted.settings)
    with timings.step("pulumi up"), policy_arguments(policies) as arguments:
        return running.watched(f"pulumi up, stack {wanted.name}", wanted.log, "up", "--yes", *arguments)


@contextmanager
def policy_arguments(policies: dict[str, Any]) -> Iterator[list[str]]:
    """Yield what makes the engine run the policies with a configuration of them."""
    with tempfile.NamedTemporaryFile("w", prefix="hpc-policies-", suffix=".json") as file:
        json.dump(policies, file)
        file.flush()
        yield ["--policy-pack", str(POLICIES), "--policy-pack-config", file.name]


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
    lines += [f"failed: {', '.join(account.failed)}"] if account.failed else []
    lines += [f"jobs that failed: {', '.join(failed)}"] if failed else []
    lines.append(f"`./hpc status {wanted.options}` shows what is on the cluster.")
    if wanted.simulated:
        lines.append(f"What the engine printed is in {wanted.log}; logs of the cluster are beside it.")
    return "\n".join(lines)
