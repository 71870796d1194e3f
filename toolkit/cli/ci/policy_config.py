"""`./hpc ci policy-config`: the policies' configuration of a stack, for plain `pulumi`."""

from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.options import DEFAULT_STACK, PolicyOption, StackOption, print_json
from toolkit.cli.shared.policy_configuration import settled


def command(stack: StackOption = DEFAULT_STACK, config: PolicyOption = None) -> None:
    """Print the policies' configuration of a stack.

    It is JSON for `pulumi --policy-pack-config FILE`.
    """
    print_json(settled(stacks.read(stack).settings, config), sort_keys=True)
