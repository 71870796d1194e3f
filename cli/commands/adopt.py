"""`./hpc adopt`: take over what is on the cluster already."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import generations, identity, session, state
from cli import stack as stacks
from cli.adopting import candidates, declared, import_file, settings_file, show, taking
from cli.adopting.candidates import Candidate
from cli.adopting.taking import Work
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.console import console
from cli.errors import Problem
from cli.stack import Stack

CommentOption = Annotated[Path | None, typer.Option("--output", "-o", help="Markdown with what is found.")]
ImportOption = Annotated[Path | None, typer.Option("--import-file", help="JSON for `pulumi import --file`.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Take over what can be taken over, without asking.")]


def command(
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    output: CommentOption = None,
    import_to: ImportOption = None,
    yes: YesOption = False,
) -> None:
    """Find objects of a stack that somebody made by hand, show how they differ, and take them over."""
    wanted = stacks.read(stack, name)
    with session.alone(wanted):
        work = _begin(wanted)
        found = candidates.search(work.program.objects, work.known(), work.cluster.find, work.cluster.tried)
        begun = taking.unfinished(work.program, work.known(), wanted.settings.adopted, work.cluster)
        chosen = [each for each in found if each.adoptable]
        _tell(work, found, begun)
        _write(work, found, output, import_to)
        if (chosen or begun) and (yes or _asked(len(chosen) + len(begun))):
            _take(work, chosen, begun)


def _begin(wanted: Stack) -> Work:
    """Return all that the command works with; refuse another cluster than the stack's before anything of it is read."""
    state.require_own_cluster(wanted)
    generations.require_fitting(wanted)
    running, cluster = session.engine(wanted), session.cluster(wanted)
    standing = identity.require(wanted, cluster, wanted.backend, running)
    session.say_plugins(running.program)
    session.prepare(wanted, running)
    return Work(wanted, running, cluster, declared.program(wanted), standing)


def _tell(work: Work, found: list[Candidate], begun: list[Candidate]) -> None:
    wanted = work.stack
    show.tables(found)
    labels = {one.label for one in work.program.objects}
    for name in sorted(set(wanted.settings.adopted) - labels):
        text = f"warning: {wanted.file.name} names {name} (adopted), which the stack does not declare"
        console.print(text, markup=False)
    if begun:
        names = ", ".join(each.declared.label for each in begun)
        console.print(f"begun and not completed: {names}", markup=False)
    if not found and not begun:
        text = f"nothing to adopt: the state of stack {wanted.name} knows every object of it that the cluster has"
        console.print(text, markup=False)
    missing = {each.declared.label for each in found if each.adoptable} - {*wanted.settings.adopted}
    if missing:
        console.print(
            f"For {wanted.file.name}, under hpc:platform (--yes writes it): these are never deleted.\n"
            f"{settings_file.lines({*missing, *wanted.settings.adopted})}",
            markup=False,
        )


def _write(work: Work, found: list[Candidate], output: Path | None, import_to: Path | None) -> None:
    if import_to is not None:
        content = import_file.content(work.program, [each for each in found if each.adoptable], work.known())
        import_to.write_text(json.dumps(content, indent=4) + "\n")
    if output is not None:
        # Half of the platform's rules come with it.
        from cli.reviewing import facts  # noqa: PLC0415
        from review import comment  # noqa: PLC0415

        output.write_text(comment.write(show.review(work.stack.name, found, facts.of(work.stack.settings))))


def _asked(number: int) -> bool:
    return sys.stdin.isatty() and typer.confirm(f"Take over what can be taken over ({number})?")


def _take(work: Work, chosen: list[Candidate], begun: list[Candidate]) -> None:
    state.settle(work.stack, work.engine, work.cluster)
    if settings_file.add(work.stack.file, {each.declared.label for each in chosen}):
        console.print(f"{work.stack.file.name} names them now (adopted)", markup=False)
        work.stack.renew_copy()
    taking.bring_in(work, chosen)
    taken = [*chosen, *begun]
    taking.complete(work, taken)
    identity.note(work.stack, work.engine, work.standing)
    lost = [each.declared.label for each in taken if not taking.is_complete(work.known(), each)]
    if lost:
        raise Problem(f"not taken over: {', '.join(lost)}", "Run the same command again: it goes on from there.")
    console.print(f"taken over: {len(taken)}; what is taken over stays when the stack goes", markup=False)
    for name in taking.not_ready(work.exported(), taken):
        console.print(f"{name} is not ready yet: the next update waits for it", markup=False)
    console.print(f"`./hpc preview {work.stack.options}` shows what the next update changes in them.", markup=False)
