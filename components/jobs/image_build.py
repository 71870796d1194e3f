"""Images built on the cluster: an ImageStream and a BuildConfig.

A build starts when its BuildConfig is new, or when a user asks for it (`oc start-build`), for an image that changes by
itself cannot be compared with itself. Field names: openshift/api, build/v1 and image/v1.
"""

from typing import Annotated, Any, Literal, Self

import pulumi
from pulumi_kubernetes import apiextensions, meta
from pydantic import Field, StringConstraints, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Image, Model, Quantity, Seconds
from components.base.timeouts import DEFAULTS
from components.jobs.containerfiles import Ref
from core.apis import kinds, names
from core.apis.names import labels

REGISTRY = "image-registry.openshift-image-registry.svc:5000"
"""The cluster's own registry, as pods name it from OpenShift 4 on."""

_CONTENT = ("spec.source", "spec.strategy", "spec.output")
"""What decides the image."""

Tag = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$")]
"""A tag of an image."""


class Inline(Model):
    """The Containerfile is part of the BuildConfig; `components.jobs.containerfiles` makes one."""

    kind: Literal["inline"] = "inline"
    containerfile: str = Field(min_length=1, pattern=r"^\s*(#.*\n|\s)*(ARG|FROM)\s", description="its text")


class Git(Model):
    """The Containerfile is in a repository."""

    kind: Literal["git"] = "git"
    uri: Annotated[str, StringConstraints(pattern=r"^(https://|ssh://|git@)\S+$")] = Field(
        description="URI of the repository"
    )
    ref: Ref = Field(description="a commit never moves; a tag or a branch may")
    folder: str | None = Field(default=None, description="context folder of the build; None: the root")
    path: str = Field(default="Dockerfile", description="path of the Containerfile, below that folder")
    secret: DnsName | None = Field(default=None, description="Secret with credentials of a private repository")


class ToStream(Model):
    """The image goes to the cluster's own registry."""

    kind: Literal["stream"] = "stream"


class ToRegistry(Model):
    """The image goes to another registry."""

    kind: Literal["registry"] = "registry"
    image: Image = Field(description="registry, path and tag")
    push_secret: DnsName = Field(description="Secret of type kubernetes.io/dockerconfigjson that may push there")


class BuiltImage(Model):
    """What is built, on what, and where it goes, as settings and the component have it."""

    tag: Tag = Field(description="tag of the ImageStream; change it with the content")
    base: Image = Field(description="base image, which replaces that of the Containerfile's last FROM")
    to: Annotated[ToStream | ToRegistry, Field(discriminator="kind", description="where the image goes")] = ToStream()

    @model_validator(mode="after")
    def _pinned_tag(self) -> Self:
        if self.tag == "latest":
            raise ValueError("tag latest means another image after every build; give each content a tag of its own")
        return self


class ImageBuildArgs(BuiltImage):
    """One image."""

    namespace: DnsLabel = Field(description="where it is built, and whose pods may pull it")
    image_name: DnsLabel = Field(description="name of BuildConfig and ImageStream")
    source: Annotated[Inline | Git, Field(discriminator="kind", description="where the Containerfile is")]
    registry: str = Field(default=REGISTRY, description="the cluster's own, as pods name it: that of a stream's image")
    pull_secret: DnsName | None = Field(default=None, description="Secret for the base, e.g. of NGC")
    build_args: dict[str, str] = Field(
        default_factory=dict, description="values of ARG; never secrets: they are readable"
    )
    cpu: Quantity = Field(default="8", description="request and limit of a build, CPUs")
    memory: Quantity = Field(default="32Gi", description="request and limit of a build, bytes")
    node_selector: dict[str, str] = Field(default_factory=dict, description="nodes of builds, away from GPUs")
    deadline: Seconds = Field(default=4 * 3600, description="seconds until a build that hangs is stopped")
    kept: int = Field(default=2, ge=1, le=50, description="finished builds that are retained, and as many failed ones")
    at_once: bool = Field(
        default=False,
        description="build when the BuildConfig is new or its content changes, and wait until the stream has the image",
    )
    build_timeout: Seconds = Field(
        default=DEFAULTS.build, description="seconds until the image is in its stream, with at_once"
    )


def reference(args: ImageBuildArgs) -> str:
    """Return the name under which pods find the image."""
    if isinstance(args.to, ToRegistry):
        return args.to.image
    return f"{args.registry}/{args.namespace}/{args.image_name}:{args.tag}"


def build_spec(args: ImageBuildArgs) -> dict[str, Any]:
    """Return the `spec` of the BuildConfig."""
    source, path = _source(args.source)
    strategy = {"from": {"kind": "DockerImage", "name": args.base}, "forcePull": True, **path}
    if args.pull_secret:
        strategy["pullSecret"] = {"name": args.pull_secret}
    if args.build_args:
        strategy["buildArgs"] = [{"name": name, "value": value} for name, value in args.build_args.items()]
    amounts = {"cpu": args.cpu, "memory": args.memory}
    return {
        "source": source,
        "strategy": {"type": "Docker", "dockerStrategy": strategy},
        "output": _output(args),
        "resources": {"requests": amounts, "limits": amounts},
        "runPolicy": "Serial",
        "completionDeadlineSeconds": args.deadline,
        "successfulBuildsHistoryLimit": args.kept,
        "failedBuildsHistoryLimit": args.kept,
        "triggers": [{"type": "ConfigChange"}] if args.at_once else [],
        **({"nodeSelector": args.node_selector} if args.node_selector else {}),
    }


def _source(source: Inline | Git) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the source, and the strategy's fields about it."""
    if isinstance(source, Inline):
        return {"type": "Dockerfile", "dockerfile": source.containerfile}, {}
    fields: dict[str, Any] = {"type": "Git", "git": {"uri": source.uri, "ref": source.ref}}
    if source.folder:
        fields["contextDir"] = source.folder
    if source.secret:
        fields["sourceSecret"] = {"name": source.secret}
    return fields, {"dockerfilePath": source.path}


def _output(args: ImageBuildArgs) -> dict[str, Any]:
    if isinstance(args.to, ToRegistry):
        return {"to": {"kind": "DockerImage", "name": args.to.image}, "pushSecret": {"name": args.to.push_secret}}
    return {"to": {"kind": "ImageStreamTag", "name": f"{args.image_name}:{args.tag}"}}


class ImageBuild(Component):
    """One BuildConfig, and the ImageStream that it fills; none for another registry.

    Outputs: `image`, the name for pods, known when it is built, where it is built at once and goes to a stream, and
    else when it can be.
    """

    image: pulumi.Output[str]

    def __init__(self, name: str, args: ImageBuildArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("workloads:ImageBuild", name, args, opts)
        metadata = meta.v1.ObjectMetaArgs(
            name=args.image_name, namespace=args.namespace, labels=labels(args.image_name, "workload")
        )
        before = []
        if isinstance(args.to, ToStream):
            stream = {"spec": {"lookupPolicy": {"local": False}}}
            before = [CustomObject(f"{name}-stream", kinds.IMAGE_STREAM, metadata, stream, self.child())]
        # OpenShift starts a build by itself only for a new BuildConfig: a changed one is recreated.
        replacement = {"replace_on_changes": [*_CONTENT], "delete_before_replace": True} if args.at_once else {}
        build = CustomObject(
            f"{name}-build",
            kinds.BUILD_CONFIG,
            metadata,
            {"spec": build_spec(args)},
            self.child(*before, **replacement),
        )
        producer: pulumi.CustomResource = build
        if args.at_once and isinstance(args.to, ToStream):
            producer = self._built(name, args, build)
        self.outputs(image=producer.id.apply(lambda _: reference(args)))

    def _built(self, name: str, args: ImageBuildArgs, build: pulumi.Resource) -> pulumi.CustomResource:
        """Declare the wait for the image: a BuildConfig does not say how its builds are, its stream what it got."""
        image = waits.exists(f'.status.tags[?(@.tag=="{args.tag}")].items[0].image')
        return apiextensions.CustomResourcePatch(
            f"{name}-built",
            api_version=kinds.IMAGE_STREAM.api_version,
            kind=kinds.IMAGE_STREAM.kind,
            metadata=meta.v1.ObjectMetaArgs(
                name=args.image_name,
                namespace=args.namespace,
                annotations={names.AWAITED: args.tag, **waits.wait_for([image], timeout=args.build_timeout)},
            ),
            opts=self.child(build),
        )
