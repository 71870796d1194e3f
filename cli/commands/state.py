"""`./hpc state ...`: where a stack's state is kept, what there is of it, and bringing it back."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import checkpoints, identity, session, state, tables
from cli import stack as stacks
from cli.backends import choice, kept, setup
from cli.backends.setup import BAD, GOOD, Wanted
from cli.backends.tags import UID
from cli.commands.options import OtherName, StackOption
from cli.console import console, errors
from cli.errors import Problem
from cli.keeping import backups, examining, making, meaning, restores, rotation, showing
from cli.live import Cluster
from cli.stack import Stack

app = typer.Typer(
    no_args_is_help=True, help="Where a stack's state is kept: make, check, list, back up and restore it."
)

BackendUrl = Annotated[
    str | None,
    typer.Option("--backend", help="URL as the engine takes it: s3://BUCKET?endpoint=https://..., file:///FOLDER."),
]
SomeStack = Annotated[str | None, typer.Option("--stack", "-s", help="Stack: the backend is the one of its settings.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

_SHOWN = 20


@app.command()
def init(
    *,
    backend: BackendUrl = None,
    stack: SomeStack = None,
    name: OtherName = None,
    days: Annotated[
        int | None,
        typer.Option(min=setup.LEAST_DAYS, help=f"Days that old versions are kept; {setup.DAYS} where nothing is set."),
    ] = None,
    newest: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help=f"Old versions kept however old they are; {setup.NEWEST} where nothing is set."
        ),
    ] = None,
    kms_key: Annotated[
        str | None, typer.Option(help="Key of KMS for what is written; else the service's own, where nothing is set.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take a bucket that holds other things, too.")] = False,
) -> None:
    """Make a backend, or put right what it lacks; with --stack the stack in it, too. May be run again at any time."""
    there, wanted = meaning.meant(backend, stack, name)
    lacking = False
    for found, changed in making.backend(there, Wanted(days, newest, kms_key), shared=yes):
        showing.say(found, changed=changed)
        lacking |= found.standing == BAD
    if wanted is not None:
        showing.say(*making.stack(wanted, meaning.engine(wanted, there), there))
        if not wanted.simulated and not (wanted.settings.state and wanted.settings.state.backend):
            console.print(
                f"Write it into {wanted.platform_file.name}, so that everybody has the same:\n"
                f"  hpc:platform:\n    state:\n      backend: {there.url}",
                markup=False,
            )
    if lacking:
        raise typer.Exit(1)


@app.command()
def check(*, backend: BackendUrl = None, stack: SomeStack = None, name: OtherName = None) -> None:
    """Check a backend, and the state of a stack in it; exit status 1 when something is not good."""
    there, wanted = meaning.meant(backend, stack, name)
    rows = examining.backend(there, wanted.options if wanted else f"--backend '{choice.without_login(there.url)}'")
    if wanted is not None and rows[0].standing == GOOD:
        rows += examining.stack(there, wanted.name, wanted.options)
        if there.has(wanted.name):
            rows += examining.cluster(there, wanted)
            rows.append(examining.passphrase(wanted, meaning.engine(wanted, there)))
    showing.findings(rows)
    if any(row.standing == BAD for row in rows):
        raise typer.Exit(1)


@app.command("list")
def list_(
    *,
    backend: BackendUrl = None,
    stack: SomeStack = None,
    name: OtherName = None,
    everything: Annotated[bool, typer.Option("--all", help=f"All older states, not the newest {_SHOWN}.")] = False,
) -> None:
    """List the stacks of a backend; of one stack also what older states there are, by the id that `restore` takes."""
    there, wanted = meaning.meant(backend, stack, name)
    names = [wanted.name] if wanted else there.stacks()
    if not names or (wanted and not there.has(wanted.name) and not kept.kept(there, wanted.name)):
        console.print(f"no {'state of stack ' + wanted.name if wanted else 'stacks'} in {there.url}", markup=False)
        return
    tables.show_rows(
        "Stacks",
        ("stack", "resources", "size", "written", "locked by"),
        (showing.stack_row(there, each) for each in names),
    )
    if wanted is None:
        return
    found = tuple(one for one in kept.kept(there, wanted.name) if not one.latest or one.removed)
    shown = found if everything else found[:_SHOWN]
    if shown:
        tables.show_rows("Older states", ("id", "kind", "written", "resources"), showing.older_rows(there, shown))
    if len(found) > len(shown):
        console.print(f"{len(found) - len(shown)} older ones: --all", markup=False)


@app.command()
def backup(
    *,
    stack: StackOption,
    name: OtherName = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="New file; secrets in it stay encrypted.")],
) -> None:
    """Write the state of a stack into one file, for its owner alone."""
    wanted = stacks.read(stack, name)
    running = session.engine(wanted)
    there = wanted.backend
    if there and not there.has(wanted.name):
        raise Problem(
            f"there is no state of stack {stack} in {there.url}",
            "`./hpc state list --backend URL` shows what there is.",
        )
    count = backups.write(wanted, checkpoints.export(running), meaning.tags(wanted, there), output)
    console.print(
        f"{output}: {count} resources, {output.stat().st_size / 1e6:.1f} MB, read back and whole", markup=False
    )


@app.command()
def restore(
    *,
    stack: StackOption,
    name: OtherName = None,
    source: Annotated[Path | None, typer.Option("--from", help="File of `./hpc state backup`.")] = None,
    version: Annotated[str | None, typer.Option(help="Id that `./hpc state list --stack` shows.")] = None,
    without_cluster: Annotated[
        bool, typer.Option("--without-cluster", help="Take the state as it was, though the cluster is not asked.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Bring an older state of a stack back, fitted to what is on the cluster today; the present one is backed up."""
    wanted = stacks.read(stack, name)
    if (source is None) == (version is None):
        raise Problem("say which state comes back", "One of --from FILE and --version ID.")
    with session.alone(wanted):
        running = session.engine(wanted)
        there = wanted.backend
        meaning.require_free(wanted, there)
        found, cluster = (
            restores.from_file(source)
            if source
            else restores.from_version(meaning.known(wanted, there), wanted.name, version or "")
        )
        tags = meaning.tags(wanted, there)
        live = None if without_cluster else session.cluster(wanted)
        here = _uid(live) if live else tags.get(UID, "")
        restores.require_own(wanted, found, cluster, here)
        if live:
            identity.require(wanted, live, there, running)
        session.prepare(wanted, running)
        plan = restores.plan(wanted, running, there, found, live.find if live else None)
        if not plan.change.any and plan.damaged is None:
            console.print(f"the state of stack {stack} is that already; nothing to restore", markup=False)
            return
        for line in plan.lines():
            console.print(line, markup=False)
        _ask(f"Restore the state of stack {stack}?", yes=yes)
        console.print(f"the present state is in {restores.keep(wanted, plan, tags)}", markup=False)
        restores.carry_out(running, there, plan)
    if live is None:
        errors.print(
            "warning: the cluster was not asked, and may have objects that this state does not know\n"
            f"`./hpc state repair {wanted.options}` finds them; run it before the next update.",
            markup=False,
        )
    console.print(
        f"restored; nothing on the cluster was changed. `./hpc drift {wanted.options}` shows how the cluster differs "
        f"from it, `./hpc up {wanted.options}` what the settings want.",
        markup=False,
    )


@app.command()
def repair(*, stack: StackOption, name: OtherName = None) -> None:
    """Put right what an update that was cut off left: locks, and what it made and the state does not know."""
    wanted = stacks.read(stack, name)
    with session.alone(wanted):
        running = session.engine(wanted)
        there = meaning.known(wanted, wanted.backend)
        live = session.cluster(wanted)
        identity.require(wanted, live, there, running)
        session.prepare(wanted, running)
        if not state.repair(wanted.name, there, running, live.find, thorough=True):
            console.print("nothing was interrupted", markup=False)


@app.command()
def rotate(
    *,
    stack: StackOption,
    name: OtherName = None,
    secrets_provider: Annotated[
        str,
        typer.Option(help="passphrase, or the URL of a key: awskms://, gcpkms://, azurekeyvault://, hashivault://."),
    ] = rotation.PASSPHRASE,
    passphrase_file: Annotated[
        Path | None, typer.Option(help="File with the new passphrase; without it, it is asked for.")
    ] = None,
) -> None:
    """Encrypt the secrets of a stack with a new key, in its settings and in its state."""
    wanted = stacks.read(stack, name)
    rotation.require_private(wanted)
    with session.alone(wanted):
        running = session.engine(wanted)
        there = wanted.backend
        meaning.require_free(wanted, there)
        session.prepare(wanted, running)
        new = None
        if secrets_provider == rotation.PASSPHRASE:
            new = _new_passphrase(wanted, passphrase_file)
        done = rotation.rotate(wanted, running, meaning.tags(wanted, there), secrets_provider, new)
    console.print(
        f"the secrets of stack {stack} have a new key, and all of them read as before; {done.settings} says so\n"
        f"the state under the old key is in {done.backup}, and in older versions until their time ends: remove what is "
        "left when the old key is to open nothing any more",
        markup=False,
    )
    if done.passphrase:
        console.print(f"the new passphrase is in {done.passphrase}", markup=False)
    else:
        console.print(f"commit {done.settings.name}: from now on nobody else's opens the state", markup=False)
    if new is not None and not done.passphrase:
        console.print("PULUMI_CONFIG_PASSPHRASE or its _FILE must give the new passphrase from now on", markup=False)
    named = wanted.settings.state.secrets_provider if wanted.settings.state else rotation.PASSPHRASE
    if not wanted.simulated and named != secrets_provider:
        file = wanted.platform_file.name
        console.print(f"write `state.secrets_provider: {secrets_provider}` into {file}", markup=False)


@app.command("accept-cluster")
def accept_cluster(
    uid: Annotated[str, typer.Argument(help="UID of namespace kube-system of the cluster that you mean.")],
    *,
    stack: StackOption,
    name: OtherName = None,
) -> None:
    """Let a stack belong to another cluster than the one that its state is about."""
    wanted = stacks.read(stack, name)
    with session.alone(wanted):
        running = session.engine(wanted)
        found = identity.accept(wanted, running, session.cluster(wanted), uid)
    console.print(
        f"stack {stack} belongs to the cluster {found}\n"
        f"`./hpc pulumi refresh {wanted.options}` compares the state with what is there.",
        markup=False,
    )


def _uid(live: Cluster) -> str:
    try:
        return identity.of(live).uid
    except Problem as problem:
        raise Problem(
            str(problem), "If it cannot be had now: --without-cluster brings the state back as it was, fitting or not."
        ) from None


def _new_passphrase(wanted: Stack, file: Path | None) -> str:
    if file is not None:
        return rotation.passphrase_from(file)
    if not rotation.given_by_person(wanted):
        return rotation.random()
    if not sys.stdin.isatty():
        raise Problem("the new passphrase cannot be asked for here", "Write it into a file: --passphrase-file FILE.")
    asked: str = typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True)
    return asked


def _ask(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise Problem("nobody can be asked here", "If you mean it: --yes.")
    if not typer.confirm(question):
        raise typer.Exit(1)
