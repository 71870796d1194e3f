"""IBM Spectrum Scale CSI: the GUI accounts and the operator's custom resource."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints, model_validator

from components.base import waits
from components.base.component import Component, CustomObject, stateful
from components.base.model import Account, DnsLabel, DnsName, Installable, Model, Seconds, merged_by
from components.base.scheduling import Toleration
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.names import labels

ClusterId = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]
"""Spectrum Scale cluster id: a number beyond JSON's precision, so always a string."""

Generation = Literal["2.0", "3"]
"""Of the driver: 2.0 is the paper's, 3 means 3.0 and later, which name the nodes' own cluster differently."""

PRODUCT = "ibm-spectrum-scale-csi"
CA = "scale-gui-ca"
"""ConfigMap with the CA of the GUIs, and its key: the driver needs the same name for both."""

Certificate = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^-----BEGIN CERTIFICATE-----\n")]
"""One or more certificates in PEM form."""


class GuiAccount(Account):
    """User of a Spectrum Scale GUI; a secret."""


class PrimaryFileset(Model):
    """Where the driver stores its own records, on the local cluster."""

    file_system: str = Field(description="in the Redpaper: fs0")
    fileset: str = Field(description="in the Redpaper: csifset")


class ScaleCluster(Model):
    """One Spectrum Scale cluster that the driver connects to."""

    id: ClusterId = Field(description="cluster id, from mmlscluster")
    gui_host: str = Field(min_length=1, description="name or address of its GUI, which the driver calls")
    secret: DnsName = Field(description="name of the Secret with the GUI account")
    secure_ssl: bool = Field(default=True, description="verify the GUI's certificate; the Redpaper did not")
    primary: PrimaryFileset | None = Field(
        default=None, description="primary fileset; on the local cluster, and only there"
    )


class ScaleClusters(Model):
    """The clusters of one driver, as settings and the component have them."""

    host_path: str | None = Field(
        default=None,
        pattern=r"^/",
        description="driver 2.0: mount point of the primary file system on every node",
    )
    local_cluster: ClusterId | None = Field(
        default=None, description="driver 3: id of the cluster that the nodes belong to"
    )
    clusters: tuple[ScaleCluster, ...] = Field(
        min_length=1,
        description="clusters that the driver connects to; for driver 2.0 the nodes' own has the primary fileset",
        json_schema_extra=merged_by("id"),
    )
    ca_certificate: Certificate | None = Field(
        default=None, description="CA certificate of the GUIs, PEM; required where secure_ssl verifies them"
    )

    @model_validator(mode="after")
    def _one_local_cluster(self) -> Self:
        if self.local_cluster is None:
            local = [cluster.id for cluster in self.clusters if cluster.primary]
            if len(local) != 1:
                raise ValueError(
                    f"clusters: {len(local)} have a primary fileset; give one to the local cluster alone, or name "
                    "local_cluster (driver 3)"
                )
        elif self.local_cluster not in [cluster.id for cluster in self.clusters]:
            raise ValueError(f"local_cluster {self.local_cluster} is none of the clusters; give its GUI among them")
        return self

    @model_validator(mode="after")
    def _verifiable(self) -> Self:
        secure = [cluster.id for cluster in self.clusters if cluster.secure_ssl]
        if secure and self.ca_certificate is None:
            raise ValueError(
                f"ca_certificate is missing, and secure_ssl of cluster {secure[0]} needs it; give the GUI's CA"
            )
        return self


class ScaleCsiArgs(Installable, ScaleClusters):
    """The custom resource, of either generation of the driver."""

    generation: Generation = Field(default="2.0", description="of the driver, from the release")
    namespace: DnsLabel = Field(description="of the operator")
    node_label: str = Field(default="scale", description='label with value "true" on Spectrum Scale clients')
    tolerations: tuple[Toleration, ...] = Field(
        default=(), description="3 only: taints that the driver's pods tolerate"
    )
    ready_timeout: Seconds = Field(
        default=DEFAULTS.operator, description="3 only: seconds until the driver runs on every client"
    )
    protect: bool = Field(default=False, description="refuse to delete the secrets")

    @model_validator(mode="after")
    def _of_one_generation(self) -> Self:
        needed = _NEEDS[self.generation]
        if getattr(self, needed) is None:
            raise ValueError(f"{needed} is missing, and generation {self.generation} of the driver needs it; give it")
        foreign = [field for field in _FOREIGN[self.generation] if getattr(self, field)]
        if foreign:
            raise ValueError(f"generation {self.generation} of the driver has no {foreign[0]}; leave it out")
        return self


_NEEDS: Mapping[Generation, str] = {"2.0": "host_path", "3": "local_cluster"}
_FOREIGN: Mapping[Generation, tuple[str, ...]] = {"2.0": ("local_cluster", "tolerations"), "3": ("host_path",)}


def spec(args: ScaleCsiArgs) -> dict[str, Any]:
    """Return the `spec` of CSIScaleOperator for the driver's generation."""
    return {"clusters": [_cluster(cluster) for cluster in args.clusters], **_SPECS[args.generation](args)}


def _redpaper_spec(args: ScaleCsiArgs) -> dict[str, Any]:
    return {"scaleHostpath": args.host_path, **_selectors(args, "attacher", "provisioner", "plugin")}


def _current_spec(args: ScaleCsiArgs) -> dict[str, Any]:
    tolerations = [toleration.manifest() for toleration in args.tolerations]
    return {
        "localScaleCluster": args.local_cluster,
        **_selectors(args, "attacher", "provisioner", "plugin", "snapshotter", "resizer"),
        **({"tolerations": tolerations} if tolerations else {}),
    }


def _selectors(args: ScaleCsiArgs, *parts: str) -> dict[str, Any]:
    return {f"{part}NodeSelector": [{"key": args.node_label, "value": "true"}] for part in parts}


_SPECS: Mapping[Generation, Callable[[ScaleCsiArgs], dict[str, Any]]] = {"2.0": _redpaper_spec, "3": _current_spec}


def _cluster(cluster: ScaleCluster) -> dict[str, Any]:
    primary = cluster.primary
    return {
        "id": cluster.id,
        "restApi": [{"guiHost": cluster.gui_host}],
        "secrets": cluster.secret,
        "secureSslMode": cluster.secure_ssl,
        **({"cacert": CA} if cluster.secure_ssl else {}),
    } | ({"primary": {"primaryFs": primary.file_system, "primaryFset": primary.fileset}} if primary else {})


class ScaleCsi(Component):
    """One Secret per Spectrum Scale cluster, the ConfigMap with their CA, and the CSIScaleOperator.

    `accounts` maps secret names to `GuiAccount` fields and stays a Pulumi secret. Outputs: `driver`, the name of the
    custom resource; of generation 3 known when the driver runs, of 2.0, which reports nothing, at once.
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
        if args.installed:
            self.outputs(driver=pulumi.Output.from_input(PRODUCT))
            return
        product = {"product": PRODUCT, **labels(PRODUCT, "storage")}
        secrets = [
            k8s.core.v1.Secret(
                f"{name}-{cluster.secret}",
                metadata=k8s.meta.v1.ObjectMetaArgs(name=cluster.secret, namespace=args.namespace, labels=product),
                string_data=accounts[cluster.secret].apply(GuiAccount.model_dump),
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
        success = waits.wait_for([waits.condition("Success")], timeout=args.ready_timeout)
        resource = CustomObject(
            f"{name}-driver",
            kinds.CSI_SCALE_OPERATOR,
            k8s.meta.v1.ObjectMetaArgs(
                name=PRODUCT,
                namespace=args.namespace,
                labels=labels(PRODUCT, "storage"),
                annotations=None if args.generation == "2.0" else success,
            ),
            {"spec": spec(args)},
            self.child(*secrets, *certificates),
        )
        self.outputs(driver=resource.id.apply(lambda _: PRODUCT))
