"""What all component resources do the same way, and a thin typed class of custom kinds.

`apiextensions.CustomResource` knows only `spec`; SecurityContextConstraints has none, and workloads need `status` back.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pulumi
from pulumi_kubernetes import meta

from components.base.model import Model
from core.apis.kinds import Kind
from core.apis.names import labels


class Component(pulumi.ComponentResource):
    """A component of type `hpc:<area>:<Thing>` whose arguments are a frozen model.

    The arguments become the component's inputs, so that previews and policies see them. What the component depends on,
    its children depend on too; Pulumi itself does not hand that down.
    """

    def __init__(self, token: str, name: str, args: Model, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"hpc:{token}", name, args.model_dump(mode="json"), opts)
        before: Any = opts.depends_on if opts else None
        self._before: Sequence[pulumi.Resource] = () if before is None else before

    def child(self, *after: pulumi.Resource | pulumi.Output[Any], **options: Any) -> pulumi.ResourceOptions:
        """Return the options of a child that is created after `after`; `options` are further ones of Pulumi.

        An output among `after` is waited for as such: nothing is made when it raises. It is not an input, or Pulumi
        would replace the child together with what the output comes from.
        """
        before: list[Any] = [item.apply(lambda _: None) if isinstance(item, pulumi.Output) else item for item in after]
        return pulumi.ResourceOptions(parent=self, depends_on=[*self._before, *before], **options)

    def outputs(self, **outputs: Any) -> None:
        """Register the outputs, each also as an attribute of the same name."""
        for key, value in outputs.items():
            setattr(self, key, value)
        self.register_outputs(outputs)


def stateful(*, protect: bool) -> Mapping[str, Any]:
    """Return the options of an object that others depend on: in production it cannot be deleted by an update."""
    return {"protect": True} if protect else {}


_PROVIDER_VERSION = version("pulumi-kubernetes")


class CustomObject(pulumi.CustomResource):
    """An object of a kind that the Kubernetes SDK has no class for.

    `fields` are the top-level fields beside apiVersion, kind and metadata (usually `spec`); keys are sent as they are.
    `aliases` of the kind's other API versions are always set, so that a release that moves the kind keeps it.
    """

    metadata: pulumi.Output[Any]
    status: pulumi.Output[Any]

    def __init__(
        self,
        name: str,
        kind: Kind,
        metadata: meta.v1.ObjectMetaArgs | Mapping[str, Any],
        fields: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
    ) -> None:
        aliases = [pulumi.Alias(type_=token) for token in kind.other_tokens]
        super().__init__(
            kind.token,
            name,
            {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "metadata": metadata,
                **fields,
                "status": None,
            },
            pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=_PROVIDER_VERSION, aliases=aliases)),
        )


def cluster_wide(name: str, part: str, wait: Mapping[str, str] | None = None) -> meta.v1.ObjectMetaArgs:
    """Return the metadata of an object without namespace: the recommended labels, and the annotations of a wait."""
    return meta.v1.ObjectMetaArgs(name=name, labels=labels(name, part), annotations=wait)
