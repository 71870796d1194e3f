"""`./hpc check`: settings, and the policies over a stack or over plain manifests; no engine and no cluster."""

import io
import os
import sys
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from core import project
from core.garbage_collection import no_collection
from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, ConfigurationError, divide, merge, unknown_rule, with_file
from policies.exceptions import ExceptionsError
from policies.rule import AnyRule, Severity
from policies.rules import RULES
from toolkit.cli.check import text_report
from toolkit.cli.check.data_reports import REPORTS, Format
from toolkit.cli.check.examination import Result, examine, examine_stack
from toolkit.cli.check.sources import of_stack, sources
from toolkit.cli.shared.errors import Problem, explain, print_error
from toolkit.cli.shared.options import DEFAULT_STACK

CLEAN, FOUND, UNREADABLE = 0, 1, 2
_FILES = {"credentials-in-secrets": {"files": True}}
"""Parameters of rules that apply to manifests in files, and not to objects in an update."""

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="File, folder (*.yaml, *.yml, *.json below it) or - for standard input."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further files, without -f.")]
StackOption = Annotated[
    str | None,
    typer.Option(
        "--stack",
        "-s",
        help=f"Stack to check (default: {DEFAULT_STACK}); with files, the one whose machines and objects they are "
        "checked against.",
    ),
]
SeverityOption = Annotated[
    Severity | None,
    typer.Option(help="Lowest severity that is reported and fails; default: all are reported, mandatory ones fail."),
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="List advisory findings too; the text form only counts them.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="Format of the report.")]
CompleteOption = Annotated[
    bool,
    typer.Option(
        "--complete",
        help="The files (and the stack) are complete: references must resolve within them. A stack alone is.",
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="JSON: levels and parameters of rules, as for the policy pack.")
]
ExceptionsOption = Annotated[
    Path | None,
    typer.Option(
        "--exceptions",
        help=f"YAML: exceptions to rules, each with its expiry date. Default: ours, and those in {exceptions.PLACE}.",
    ),
]
ProgramOption = Annotated[
    Path | None,
    typer.Option("--program", help="File of a program of your own, in the format of stacks/programs, alone."),
]
LogOption = Annotated[
    list[Path] | None,
    typer.Option("--log", help="With --program: log to read its metrics from; repeatable. 1 where one has no value."),
]
RulesOption = Annotated[str | None, typer.Option("--rules", help="Run only these rules, comma-separated.")]


def command(
    more: MoreFiles = None,
    file: Files = None,
    stack: StackOption = None,
    severity: SeverityOption = None,
    form: FormatOption = Format.TEXT,
    *,
    verbose: VerboseOption = False,
    complete: CompleteOption = False,
    config: ConfigOption = None,
    exempt: ExceptionsOption = None,
    rules: RulesOption = None,
    program: ProgramOption = None,
    log: LogOption = None,
) -> None:
    """Check a stack, manifests or a program, without a cluster.

    Without files: a stack's settings and, by the policies, the manifests that it would apply. With files: these, by
    the policies.

    Exit status 0: no mandatory findings; 1: mandatory findings (with --severity advisory, any findings); 2: something
    could not be read, or settings are wrong.
    """
    names = [*(file or ()), *(more or ())]
    if program is not None or log:
        raise typer.Exit(_of_program(program, log or (), alone=not (names or stack)))
    with no_collection():
        try:
            declared = of_stack(stack or DEFAULT_STACK) if stack or not names else None
            defaults = merge(_FILES if names else {}, declared.configuration if declared else {})
            content, general = divide(with_file(defaults, config))
            every = (*RULES, *general.own)
            chosen = _chosen(rules, every)
            checker = Checker(chosen, Configuration(content, every))
            every_exception = exceptions.read(exempt) if exempt else exceptions.load()
            applicable = [entry for entry in every_exception if entry.rule in {rule.name for rule in chosen}]
        except Exception as error:
            _refuse(error)
        if declared and not names:
            whole, run = general.complete is not False, partial(examine_stack, declared)
        else:
            around = declared.together if declared else ()
            whole, run = general.complete is True, partial(examine, sources(names), context=around)
        result = run(checker, complete=complete or whole, exempt=applicable, ended=general.ended, today=date.today())
        if severity is Severity.MANDATORY:
            result.findings = [located for located in result.findings if located.finding.severity is Severity.MANDATORY]
        listed = verbose or severity is Severity.ADVISORY
        _print(text_report.report(result, advisories=True) if form is Format.TEXT and listed else REPORTS[form](result))
    raise typer.Exit(_status(result, severity or Severity.MANDATORY))


def _of_program(program: Path | None, logs: Sequence[Path], *, alone: bool) -> int:
    """Check a program's file, and return the exit status."""
    from toolkit.cli.check import program_file  # noqa: PLC0415 - the readers of logs, which policies do without

    if program is None or not alone:
        raise Problem("--program, with --log, is a check of its own", "Give --program FILE, without --stack and files.")
    return program_file.check(program, logs)


def _print(report: str) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for what the terminal's encoding lacks
    typer.echo(project.located(report), color=False if os.environ.get("NO_COLOR") else None)


def _status(result: Result, least: Severity) -> int:
    if result.problems:
        return UNREADABLE
    failing = {Severity.MANDATORY, least}
    return FOUND if any(located.finding.severity in failing for located in result.findings) else CLEAN


def _chosen(names: str | None, rules: tuple[AnyRule, ...]) -> tuple[AnyRule, ...]:
    if names is None:
        return rules
    selected = {name.strip() for name in names.split(",")}
    rule_names = {rule.name for rule in rules}
    if unknown := sorted(selected - rule_names):
        raise ConfigurationError("\n".join(f"--rules: {unknown_rule(name, rule_names)}" for name in unknown))
    return tuple(rule for rule in rules if rule.name in selected)


def _refuse(error: Exception) -> NoReturn:
    """Exit with the error of an argument; raise any other."""
    message = str(error) if isinstance(error, ConfigurationError | ExceptionsError) else explain(error)
    if message is None:
        raise error
    print_error(message)
    sys.exit(UNREADABLE)
