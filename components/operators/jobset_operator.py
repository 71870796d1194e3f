"""JobSet, as Red Hat's operator installs it: one object starts the controller.

Its webhooks have certificates of cert-manager, so the object does not become Available before cert-manager.io/v1 is
served.
"""

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field

from components.base import waits
from components.base.component import Component, CustomObject, stateful
from components.base.model import Installable, Seconds
from components.base.timeouts import DEFAULTS
from core.apis.names import labels
from core.apis.operators import JOB_SET_OPERATOR

NAME = "cluster"
"""The operator acts on no other name."""


class JobSetOperatorArgs(Installable):
    """How long the object is waited for, and what may delete it."""

    ready_timeout: Seconds = Field(default=DEFAULTS.operator, description="seconds until the controller is available")
    protect: bool = Field(default=False, description="refuse to delete the object: all JobSets would go with it")


class JobSetOperator(Component):
    """One JobSetOperator object.

    On a simulated cluster the controller that the operator starts is the real one.
    Outputs: `instance`, its name, known when JobSets can be sent.
    """

    instance: pulumi.Output[str]

    def __init__(self, name: str, args: JobSetOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("operators:JobSetOperator", name, args, opts)
        if args.installed:
            self.outputs(instance=pulumi.Output.from_input(NAME))
            return
        instance = CustomObject(
            f"{name}-instance",
            JOB_SET_OPERATOR,
            meta.v1.ObjectMetaArgs(
                name=NAME,
                labels=labels("jobset", "operators"),
                annotations=waits.wait_for([waits.condition("Available")], timeout=args.ready_timeout),
            ),
            {"spec": {"managementState": "Managed"}},
            self.child(**stateful(protect=args.protect)),
        )
        self.outputs(instance=instance.id.apply(lambda _: NAME))
