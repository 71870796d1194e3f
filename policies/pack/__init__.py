"""The rules as Pulumi policies. Importing this starts no server; `policies/__main__.py` alone does.

A rule about one object is a resource policy and sees the inputs before anything is created. A rule about links is a
stack policy: it sees the whole stack, at the end of a preview or an update. What cannot be verified is reported by
policies of its own, so that it has a level of its own.
"""

from collections.abc import Iterable, Sequence
from datetime import date

from pulumi_policy import Policy

from policies.exceptions import RuleException, load
from policies.pack.doubts import unverified_link, unverified_value
from policies.pack.evaluation import ResourceRequests, StackRequests
from policies.pack.rules import ended_exceptions, resource_policy, stack_policy
from policies.pack.whole import whole_stack
from policies.rule import AnyRule
from policies.rules import RULES

NAME = "hpc"


def policies(
    rules: Iterable[AnyRule] = RULES, exceptions: Sequence[RuleException] | None = None, today: date | None = None
) -> list[Policy]:
    """Return one policy per rule, and those for doubts, exceptions and how much the stack is.

    `exceptions` are by default those of `policies/exceptions.yaml`; raises ExceptionsError when these are not well
    formed. `today` is by default the day of the call. The order counts: the policies share one evaluation per request.
    """
    resources, stacks = ResourceRequests(), StackRequests()
    waived = tuple(load() if exceptions is None else exceptions)
    day = today or date.today()
    known = sorted(rules, key=lambda rule: (rule.links, rule.name))
    return [
        whole_stack(stacks),
        *(
            stack_policy(rule, stacks, waived, day) if rule.links else resource_policy(rule, resources, waived, day)
            for rule in known
        ),
        unverified_value(resources, stacks),
        unverified_link(stacks),
        ended_exceptions(waived, day),
    ]
