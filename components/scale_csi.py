"""IBM Spectrum Scale CSI: the GUI accounts and the operator's custom resource (R-3.4.5)."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from apis import kinds
from components.component import Component, stateful
from components.custom_resources import CustomObject
from components.labels import labels
from components.model import DnsLabel, DnsName, Model

ClusterId = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]
"""Spectrum Scale cluster id: a number beyond what JSON keeps exactly, so always a string."""

PRODUCT = "ibm-spectrum-scale-csi"
CA = "scale-gui-ca"
"""ConfigMap with the CA of the GUIs, and its key: the driver wants both of one name."""

Certificate = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^-----BEGIN CERTIFICATE-----\n")]
"""One or more certificates in PEM form."""


class GuiAccount(Model):
    """User of a Spectrum Scale GUI; a secret."""

    username: str
    password: str = Field(repr=False)


class PrimaryFileset(Model):
    """Where the driver keeps its own records, on the local cluster."""

    file_system: str = Field(description="R-3.4.5-6: fs0")
    fileset: str = Field(description="R-3.4.5-6: csifset")


class ScaleCluster(Model):
    """One Spectrum Scale cluster that the driver talks to."""

    id: ClusterId
    gui_host: str = Field(min_length=1)
    secret: DnsName = Field(description="name of the Secret with the GUI account")
    secure_ssl: bool = Field(default=True, description="verify the GUI's certificate; the paper did not (E-22)")
    primary: PrimaryFileset | None = Field(default=None, description="on the local cluster, and only there")


def _one_local(clusters: tuple[ScaleCluster, ...]) -> tuple[ScaleCluster, ...]:
    local = [cluster.id for cluster in clusters if cluster.primary]
    if len(local) != 1:
        raise ValueError(f"{len(local)} clusters have a primary fileset; give one to the local cluster alone")
    return clusters


ScaleClusters = Annotated[tuple[ScaleCluster, ...], Field(min_length=1), AfterValidator(_one_local)]
"""The clusters of one driver, of which the one with a primary fileset is the nodes' own."""


class ScaleCsiArgs(Model):
    """The custom resource of CSI 2.0."""

    namespace: DnsLabel
    host_path: str = Field(pattern=r"^/", description="mount point of the primary file system on every node")
    clusters: ScaleClusters
    ca_certificate: Certificate | None = Field(
        default=None, description="of the CA of the GUIs' certificates; wanted where secure_ssl verifies them"
    )
    node_label: str = Field(default="scale", description='label with value "true" on Spectrum Scale clients')
    protect: bool = Field(default=False, description="refuse to delete the secrets")

    @model_validator(mode="after")
    def _verifiable(self) -> Self:
        require_ca(self.clusters, self.ca_certificate)
        return self


def require_ca(clusters: Iterable[ScaleCluster], ca_certificate: str | None) -> None:
    """Raise ValueError where certificates are to be verified and there is no CA: the driver does not start then."""
    secure = [cluster.id for cluster in clusters if cluster.secure_ssl]
    if secure and ca_certificate is None:
        raise ValueError(
            f"ca_certificate is missing, and secure_ssl of cluster {secure[0]} needs it; give the GUI's CA"
        )


def spec(args: ScaleCsiArgs) -> dict[str, Any]:
    """Return the `spec` of CSIScaleOperator for CSI 2.0."""
    selector = [{"key": args.node_label, "value": "true"}]
    return {
        "clusters": [_cluster(cluster) for cluster in args.clusters],
        "scaleHostpath": args.host_path,
        "attacherNodeSelector": selector,
        "provisionerNodeSelector": selector,
        "pluginNodeSelector": selector,
    }


def _cluster(cluster: ScaleCluster) -> dict[str, Any]:
    primary = cluster.primary
    return {
        "id": cluster.id,
        "restApi": [{"guiHost": cluster.gui_host}],
        "secrets": cluster.secret,
        "secureSslMode": cluster.secure_ssl,
        **({"cacert": CA} if cluster.secure_ssl else {}),
    } | ({"primary": {"primaryFs": primary.file_system, "primaryFset": primary.fileset}} if primary else {})


def _login(secret: str, accounts: dict[str, GuiAccount]) -> dict[str, str]:
    return accounts[secret].model_dump()


class ScaleCsi(Component):
    """One Secret per Spectrum Scale cluster, the ConfigMap with their CA, and the CSIScaleOperator.

    `accounts` maps secret names to `GuiAccount` fields and stays a Pulumi secret. Outputs: `driver`, the name of the
    custom resource.
    """

    driver: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ScaleCsiArgs,
        accounts: pulumi.Output[dict[str, GuiAccount]],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("storage:ScaleCsi", name, args, opts)
        product = {"product": PRODUCT, **labels(PRODUCT, "storage")}
        secrets = [
            k8s.core.v1.Secret(
                f"{name}-{cluster.secret}",
                metadata=k8s.meta.v1.ObjectMetaArgs(name=cluster.secret, namespace=args.namespace, labels=product),
                string_data=accounts.apply(partial(_login, cluster.secret)),
                opts=self.child(**stateful(protect=args.protect)),
            )
            for cluster in args.clusters
        ]
        certificates = [
            k8s.core.v1.ConfigMap(
                f"{name}-ca",
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    name=CA, namespace=args.namespace, labels=labels(PRODUCT, "storage")
                ),
                data={CA: certificate},
                opts=self.child(),
            )
            for certificate in (args.ca_certificate,)
            if certificate
        ]
        resource = CustomObject(
            f"{name}-driver",
            kinds.CSI_SCALE_OPERATOR,
            k8s.meta.v1.ObjectMetaArgs(name=PRODUCT, namespace=args.namespace, labels=labels(PRODUCT, "storage")),
            {"spec": spec(args)},
            self.child(*secrets, *certificates),
        )
        self.outputs(driver=resource.id.apply(lambda _: PRODUCT))
