"""An operator from OperatorHub: namespace, operator group and subscription, up to the installed version."""

from collections.abc import Mapping
from typing import Any, Literal, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi.output import UNKNOWN, Unknown
from pulumi_kubernetes import apiextensions
from pydantic import Field

from components.base import waits
from components.base.component import Component, CustomObject, stateful
from components.base.model import DnsLabel, DnsName, Installable, Seconds
from components.base.timeouts import DEFAULTS
from core.apis import kinds, names, operators
from core.apis.names import labels


class OlmSubscription(Installable):
    """One OLM subscription."""

    namespace: DnsLabel = Field(description="where the operator runs; the component creates it")
    package: DnsName = Field(description="package name in the catalogue")
    channel: str = Field(description="update channel, e.g. stable; the operator follows its head")
    source: DnsName = Field(default="redhat-operators", description="catalogue source")
    source_namespace: DnsLabel = Field(default="openshift-marketplace", description="namespace of the catalogue source")
    subscription: DnsName | None = Field(
        default=None, description="name of the Subscription; None: the package's. An existing one has its own"
    )
    operator_group: DnsName | None = Field(
        default=None,
        description="name of the namespace's OperatorGroup; None: the package's. With two in a namespace OLM installs "
        "nothing, so an existing one is named",
    )
    starting_csv: str | None = Field(default=None, description="version to install first; None for the channel's head")
    approval: Literal["Automatic", "Manual"] = Field(
        default="Automatic", description="Manual keeps the version until a user approves each install plan"
    )
    own_namespace_only: bool = Field(default=True, description="the operator watches its own namespace only")


class OlmOperatorArgs(OlmSubscription):
    """One OLM subscription, and what the environment decides about it."""

    cluster_monitoring: bool = Field(default=False, description="let the cluster's Prometheus scrape the namespace")
    install_timeout: Seconds = Field(
        default=DEFAULTS.operator, description="seconds for catalogue, bundle, images and deployment"
    )
    protect: bool = Field(default=False, description="refuse to delete the namespace")
    shared_namespace: bool = Field(
        default=False,
        description="an operator that comes before has created the namespace and its OperatorGroup: OLM installs "
        "nothing in a namespace with two",
    )


class OlmOperator(Component):
    """Installs one operator.

    The component is done when OLM has installed the channel's head (with `approval: Manual`, any version of it) and
    the ClusterServiceVersion is Succeeded; its custom resources depend on it, since the provider retries an unknown
    kind only a few times. Outputs: `namespace`, `installed_csv`.
    """

    namespace: pulumi.Output[str]
    installed_csv: pulumi.Output[str]

    def __init__(self, name: str, args: OlmOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("operators:OlmOperator", name, args, opts)
        if args.installed:
            self.outputs(namespace=pulumi.Output.from_input(args.namespace), installed_csv=pulumi.Output.from_input(""))
            return
        own_labels = labels(args.package, "operators")
        inside = pulumi.Output.from_input(args.namespace) if args.shared_namespace else self._namespace(name, args)
        timeout = args.install_timeout
        subscription = CustomObject(
            f"{name}-subscription",
            kinds.SUBSCRIPTION,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.subscription or args.package,
                namespace=inside,
                labels=own_labels,
                annotations=waits.wait_for([_installed(args)], timeout=timeout),
            ),
            {"spec": _subscription_spec(args)},
            self.child(),
        )
        installed_csv = subscription.status.apply(installed)
        apiextensions.CustomResourcePatch(
            f"{name}-version",
            api_version=kinds.CLUSTER_SERVICE_VERSION.api_version,
            kind=kinds.CLUSTER_SERVICE_VERSION.kind,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=installed_csv.apply(lambda csv: _preview_name(csv, args.package), run_with_unknowns=True),
                namespace=args.namespace,
                annotations={
                    names.AWAITED: installed_csv,
                    **waits.wait_for([waits.equals(".status.phase", "Succeeded")], timeout=timeout),
                },
            ),
            # OLM deletes a version that it has replaced. The provider's deletion of a patch applies it without fields,
            # which would create the version again, and fails: "currently managing a required field".
            opts=self.child(retain_on_delete=True),
        )
        self.outputs(namespace=inside, installed_csv=installed_csv)

    def _namespace(self, name: str, args: OlmOperatorArgs) -> pulumi.Output[str]:
        """Declare the namespace with its OperatorGroup; return its name, known when it exists."""
        own_labels = labels(args.package, "operators")
        monitoring = {names.CLUSTER_MONITORING: "true"} if args.cluster_monitoring else {}
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=args.namespace, labels={**own_labels, **monitoring}),
            opts=self.child(**stateful(protect=args.protect)),
        )
        inside: pulumi.Output[str] = namespace.metadata.name
        group_spec = {"targetNamespaces": [args.namespace]} if args.own_namespace_only else {}
        CustomObject(
            f"{name}-operator-group",
            kinds.OPERATOR_GROUP,
            k8s.meta.v1.ObjectMetaArgs(name=args.operator_group or args.package, namespace=inside, labels=own_labels),
            {"spec": group_spec},
            self.child(),
        )
        return inside


def _installed(args: OlmOperatorArgs) -> str:
    versions = operators.numbered(args.package, args.channel)
    return waits.installs(versions, automatic=args.approval == "Automatic")


def _subscription_spec(args: OlmOperatorArgs) -> dict[str, Any]:
    spec = {
        "name": args.package,
        "channel": args.channel,
        "source": args.source,
        "sourceNamespace": args.source_namespace,
        "installPlanApproval": args.approval,
    }
    return spec | ({"startingCSV": args.starting_csv} if args.starting_csv else {})


def _preview_name(installed_csv: Any, package: str) -> str:
    """Return the name of the version to patch, a placeholder while OLM has not installed any.

    The official provider refuses a patch whose name is unknown, in previews too. The annotation beside it stays
    unknown until then, so that a preview sends nothing to the server.
    """
    return f"{package}.installed-by-olm" if isinstance(installed_csv, Unknown) else str(installed_csv)


def installed(status: Mapping[str, Any]) -> pulumi.Input[str]:
    """Return the version that OLM has installed, from the status.

    A Subscription that an update left before it was ready has a status without one: a preview does not know it yet,
    and the update that follows waits for it first. Raises ValueError when it is still absent then.
    """
    if "installedCSV" in status:
        return str(status["installedCSV"])
    if pulumi.runtime.is_dry_run():
        return pulumi.Output.from_input(cast("str", UNKNOWN))
    raise ValueError("the Subscription has no status.installedCSV; see its conditions, and run the update again")
