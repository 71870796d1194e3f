"""Operators and their objects that another tool has installed."""

from pydantic import Field

from components.base.model import Model


class Installable(Model):
    """An operator, or the object that configures it: the stack declares it, or the cluster has it."""

    installed: bool = Field(
        default=False,
        description="another tool (Argo CD, Helm, another team) has installed and configured the operator: it is "
        "used, its version is compared with the channel (of MPI: the image), and nothing of it is declared, whatever "
        "else is set",
    )
