"""Manifests of a stack's own, examined as they are written.

The provider drops fields that it does not know from objects of Kubernetes' own kinds, before any policy of the engine
sees them: a misspelt selector of a Service would be applied without one.
"""

from datetime import date

from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, divide
from policies.findings import Severity
from policies.rules import RULES
from policies.rules.apis.known_fields import KNOWN_FIELDS
from stacks.layers import own_objects
from toolkit.cli.check.examination import Located, examine
from toolkit.cli.check.sources import Source
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.cli.shared.stack import Stack


def require(stack: Stack) -> None:
    """Raise Problem for fields that the API does not know, unless the stack's settings make the rule advisory."""
    files = own_objects.files(stack.settings.objects, ROOT)
    if not files:
        return
    content, general = divide(configuration(stack.settings))
    checker = Checker((KNOWN_FIELDS,), Configuration(content, (*RULES, *general.own)))
    exempt = [entry for entry in exceptions.load() if entry.rule == KNOWN_FIELDS.name]
    written = (Source(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in files)
    result = examine(written, checker, exempt=exempt, today=date.today())
    refused = [located for located in result.findings if located.finding.severity is Severity.MANDATORY]
    if refused:
        raise Problem(
            "\n".join(map(_line, refused)), "Correct the manifests; `./hpc check` shows all that is wrong with them."
        )


def _line(located: Located) -> str:
    remedy = f"; {located.finding.remedy}" if located.finding.remedy else ""
    where = f"{located.file}:{located.line}:{located.column}"
    return f"{where}: {located.finding.place}: {located.finding.message}{remedy}"
