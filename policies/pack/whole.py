"""Whether a stack is all there is: one of several layers finds the other end of a link in another stack."""

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.pack.evaluation import StackRequests

NAME = "whole-stack"
_COMPLETE = "complete"


def whole_stack(requests: StackRequests) -> StackValidationPolicy:
    """Return the policy that reports nothing and tells the rules about links how much they see."""
    turn = requests.turn()

    def validate(arguments: StackValidationArgs, _: ReportViolation) -> None:
        requests.evaluation(turn, arguments).whole = arguments.get_config().get(_COMPLETE) is not False

    return StackValidationPolicy(
        name=NAME,
        description="The stack has both ends of every link. Set `complete` to false for one of several layers.",
        validate=validate,
        enforcement_level=EnforcementLevel.MANDATORY,
        config_schema=PolicyConfigSchema(
            {
                _COMPLETE: {
                    "type": "boolean",
                    "default": True,
                    "description": "whether an object that a link names and that the stack lacks does not exist",
                }
            }
        ),
        url="docs/policies/README.md",
    )
