"""Thin typed Pulumi classes of custom kinds.

`apiextensions.CustomResource` knows only `spec`; SecurityContextConstraints has none, and workloads need `status` back.
"""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi
from pulumi_kubernetes import meta

from core.apis.kinds import Kind
from core.apis.names import labels

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
