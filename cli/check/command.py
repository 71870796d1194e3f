"""`./hpc check`: the policies over plain manifests, without an engine and without a cluster."""

import io
import os
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from apis.garbage_collection import no_collection
from cli.check.examination import Result, examine
from cli.check.reports import REPORTS, Format, text
from cli.check.sources import sources
from cli.check.stack_objects import of_stack
from cli.shared.errors import explain, print_error
from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, ConfigurationError, divided, merged, unknown_rule, with_file
from policies.exceptions import ExceptionsError
from policies.findings import Severity
from policies.rule import AnyRule
from policies.rules import RULES

CLEAN, FOUND, UNREADABLE = 0, 1, 2
_FILES = {"credentials-in-secrets": {"files": True}}
"""Parameters of rules that apply to manifests in files, and not to objects in an update."""

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="File, folder (*.yaml, *.yml, *.json below it) or - for standard input."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further files, without -f.")]
StackOption = Annotated[
    str | None, typer.Option("--stack", "-s", help="Stack whose machines and objects the files are checked against.")
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
    typer.Option("--complete", help="The files (and the stack) are complete: references must resolve within them."),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="JSON: levels and parameters of rules, as for the policy pack.")
]
ExceptionsOption = Annotated[
    Path, typer.Option("--exceptions", help="YAML: exceptions to rules, each with its expiry date.")
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
    exempt: ExceptionsOption = exceptions.FILE,
    rules: RulesOption = None,
) -> None:
    """Check manifests against the policies, without a cluster.

    Exit status 0: no mandatory findings; 1: mandatory findings (with --severity advisory, any findings); 2: something
    could not be read.
    """
    names = [*(file or ()), *(more or ())]
    if not names:
        own = f"; the manifests of {stack} are what ./hpc render --stack {stack} -o DIR writes" if stack else ""
        raise typer.BadParameter(f"name files, folders or - for standard input{own}", param_hint="-f")
    with no_collection():
        try:
            chosen = _chosen(rules)
            settings, context = of_stack(stack)
            content, general = divided(with_file(merged(_FILES, settings), config))
            checker = Checker(chosen, Configuration(content))
            known = [entry for entry in exceptions.load(exempt) if entry.rule in {rule.name for rule in chosen}]
        except Exception as error:
            _refuse(error)
        result = examine(
            sources(names),
            checker,
            context=context,
            complete=complete or general.complete is True,
            exempt=known,
            ended=general.ended,
            today=date.today(),
        )
        if severity is Severity.MANDATORY:
            result.findings = [each for each in result.findings if each.finding.severity is Severity.MANDATORY]
        listed = verbose or severity is Severity.ADVISORY
        _print(text.report(result, advisories=True) if form is Format.TEXT and listed else REPORTS[form](result))
    raise typer.Exit(_status(result, severity or Severity.MANDATORY))


def _print(report: str) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for what the terminal's encoding lacks
    typer.echo(report, color=False if os.environ.get("NO_COLOR") else None)


def _status(result: Result, least: Severity) -> int:
    if result.problems:
        return UNREADABLE
    failing = {Severity.MANDATORY, least}
    return FOUND if any(each.finding.severity in failing for each in result.findings) else CLEAN


def _chosen(names: str | None) -> tuple[AnyRule, ...]:
    if names is None:
        return RULES
    wanted = {name.strip() for name in names.split(",")}
    known = {rule.name for rule in RULES}
    if unknown := sorted(wanted - known):
        raise ConfigurationError("\n".join(f"--rules: {unknown_rule(name, known)}" for name in unknown))
    return tuple(rule for rule in RULES if rule.name in wanted)


def _refuse(error: Exception) -> NoReturn:
    """Exit with the error of an argument; raise any other."""
    message = str(error) if isinstance(error, ConfigurationError | ExceptionsError) else explain(error)
    if message is None:
        raise error
    print_error(message)
    sys.exit(UNREADABLE)
