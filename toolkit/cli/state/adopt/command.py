"""`./hpc state adopt`: import existing objects."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import interrupted
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption, file_option, write_text
from toolkit.cli.shared.preflight import update_checks
from toolkit.cli.shared.preflight.update_checks import unready_operands
from toolkit.cli.shared.stack import Stack
from toolkit.cli.state.adopt import adoption, candidates, declared, presentation, settings_file
from toolkit.cli.state.adopt.adoption import Work
from toolkit.cli.state.adopt.candidates import Candidate

CommentOption = Annotated[Path | None, file_option("File for the findings, in Markdown")]
ImportOption = Annotated[Path | None, typer.Option("--import-file", help="File for `pulumi import --file`, JSON.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Adopt all that can be adopted, without asking.")]


def command(
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    output: CommentOption = None,
    import_to: ImportOption = None,
    yes: YesOption = False,
) -> None:
    """Import objects of a stack that exist on the cluster.

    Shows first how they differ from the program.
    """
    stack = stacks.read(stack_name, name)
    with session.exclusive(stack):
        work = _begin(stack)
        update_checks.show(unready_operands(work.cluster.list))
        matches = candidates.search(work.program.objects, work.recorded(), work.cluster.find, work.cluster.dry_run)
        started = adoption.unfinished(work.program, work.recorded(), stack.settings.adopted, work.cluster)
        chosen = [candidate for candidate in matches if candidate.adoptable]
        _print(work, matches, started)
        _write(work, matches, output, import_to)
        if (chosen or started) and (yes or _confirmed(len(chosen) + len(started))):
            _take(work, chosen, started)


def _begin(stack: Stack) -> Work:
    """Return all that the command works with; refuse another cluster than the stack's before anything of it is read."""
    stack_checks.require_own_cluster(stack)
    stack_checks.require_fitting(stack)
    running, cluster = session.engine(stack), session.cluster(stack)
    match = identity.require(stack, cluster, stack.backend, running)
    session.print_plugins(stack, running.program)
    session.prepare(stack, running)
    return Work(stack, running, cluster, declared.program(stack), match)


def _print(work: Work, matches: list[Candidate], started: list[Candidate]) -> None:
    stack = work.stack
    presentation.tables(matches)
    labels = {obj.label for obj in work.program.objects}
    for name in sorted(set(stack.settings.adopted) - labels):
        text = f"warning: {stack.file.name} names {name} (adopted), which the stack does not declare"
        print_text(text)
    if started:
        names = ", ".join(candidate.declared.label for candidate in started)
        print_text(f"started and not completed: {names}")
    if not matches and not started:
        text = f"nothing to adopt: the state of stack {stack.name} knows every object of it that the cluster has"
        print_text(text)
    addition = settings_file.addition([candidate for candidate in matches if candidate.adoptable], stack.settings)
    if {*addition.adopted} - {*stack.settings.adopted}:
        print_text(
            f"For {stack.file.name}, under hpc:platform (--yes writes it): what is adopted is never deleted, and "
            "keeps the fields under extra; remove a line there, and the next update changes that field.\n"
            + addition.lines()
        )


def _write(work: Work, matches: list[Candidate], output: Path | None, import_to: Path | None) -> None:
    if import_to is not None:
        content = adoption.import_content(
            work.program, [candidate for candidate in matches if candidate.adoptable], work.recorded()
        )
        write_text(import_to, json.dumps(content, indent=4) + "\n")
    if output is not None:
        # Half of the platform's rules come with it.
        from toolkit.cli.diff.presentation import write_comment  # noqa: PLC0415
        from toolkit.cli.diff.settings_facts import of  # noqa: PLC0415

        write_comment(output, presentation.review(work.stack.name, matches, of(work.stack.settings)))


def _confirmed(number: int) -> bool:
    return sys.stdin.isatty() and typer.confirm(f"Adopt what can be adopted ({number})?")


def _take(work: Work, chosen: list[Candidate], started: list[Candidate]) -> None:
    interrupted.settle(work.stack, work.engine, work.cluster)
    if settings_file.add(work.stack.file, settings_file.addition(chosen, work.stack.settings)):
        print_text(f"{work.stack.file.name} names them now (adopted, extra)")
        work.stack.renew_copy()
    adoption.bring_in(work, chosen)
    taken = [*chosen, *started]
    adoption.complete(work, taken)
    identity.record(work.stack, work.engine, work.match)
    lost = [candidate.declared.label for candidate in taken if not adoption.is_complete(work.recorded(), candidate)]
    if lost:
        raise Problem(f"not adopted: {', '.join(lost)}", "Run the same command again; it continues from there.")
    print_text(f"adopted: {len(taken)}; adopted objects are not deleted with the stack")
    for name in adoption.not_ready(work.exported(), taken):
        print_text(f"{name} is not ready yet: the next update waits for it")
    print_text(f"`./hpc pulumi preview {work.stack.options}` shows what the next update changes in them.")
