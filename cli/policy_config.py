"""`./hpc policy-config`: the policies' configuration of a stack, for plain `pulumi`."""

import json

from cli.shared import stack as stacks
from cli.shared.options import DEFAULT_STACK, PolicyOption, StackOption
from cli.shared.policy_configuration import settled


def command(stack: StackOption = DEFAULT_STACK, config: PolicyOption = None) -> None:
    """Print the policies' configuration of a stack.

    It is JSON for `pulumi --policy-pack-config FILE`.
    """
    print(json.dumps(settled(stacks.read(stack).settings, config), indent=2, sort_keys=True))  # noqa: T201 - for a file
