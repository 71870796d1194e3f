"""`./hpc policy-config`: the policies' configuration of a stack, for plain `pulumi`."""

import json

from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, PolicyOption, StackOption
from cli.policy_configuration import settled


def command(stack: StackOption = DEFAULT_STACK, config: PolicyOption = None) -> None:
    """Print what the settings of a stack say to the policies, as JSON for `pulumi --policy-pack-config FILE`."""
    print(json.dumps(settled(stacks.read(stack).settings, config), indent=2, sort_keys=True))  # noqa: T201 - for a file
