"""What is compared with the cluster before an update, and before what shows one: `diff`, `up` and `pulumi preview`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolkit.cli.shared import operand_states, operator_channels, own_manifests, reached_nodes
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.operator_channels import Examined
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import bare


@dataclass(frozen=True)
class Checked:
    """A stack that its cluster does not contradict."""

    operators: Sequence[Examined]
    sentences: tuple[str, ...]
    """What to know of the cluster first."""

    def show(self) -> None:
        """Print what to know."""
        show(self.sentences)


def show(sentences: Iterable[str]) -> None:
    """Print sentences about the cluster as it is."""
    for sentence in sentences:
        print_warning(bare(sentence))


def require(stack: Stack, cluster: Cluster) -> Checked:
    """Return what is known of a stack on its cluster.

    Raises Problem where OLM cannot install an operator, the stack would configure nodes that are not its own, or a
    manifest of its own has fields that the cluster would drop.
    """
    own_manifests.require(stack)
    operators = operator_channels.require(stack, cluster)
    reached = reached_nodes.require(stack, cluster)
    return Checked(operators, (*operand_states.sentences(cluster.list), *reached))
