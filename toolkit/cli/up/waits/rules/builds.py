"""Builds of OpenShift, the ImageStreams that they fill, and the images that pods wait for until one is done (pure).

Phases and reasons: openshift/api, build/v1/types.go.
"""

import re

from core.apis import kinds, names
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits.pods import IMAGE, statuses
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failed, failing, waiting

_POD = "openshift.io/build.pod-name"
"""Annotation of a build: its pod."""
_OWN_REGISTRY = re.compile(
    r"(?:image-registry\.openshift-image-registry\.svc|docker-registry\.default\.svc)[^/]*/"
    r"(?P<namespace>[^/\s]+)/(?P<stream>[^/\s:@]+):(?P<tag>[\w.-]+)"
)
"""An image of the cluster's own registry, of OpenShift 4 and 3."""


def judge(build: Object, look: Look) -> Verdict:
    """Return how far a build is; one that has ended is never tried again."""
    phase = str(read(build, "status", "phase") or "New")
    reason, message, log = (
        str(read(build, "status", key) or "").strip() for key in ("reason", "message", "logSnippet")
    )
    text = ": ".join(part for part in (phase, reason, message) if part)
    if phase == "Complete":
        return DONE
    if phase in ("Failed", "Error", "Cancelled"):
        pod = _pod(build, look)
        return failed(text if pod or not log else f"{text}\n{log}", pod)
    if phase == "New" and reason:
        return failing(text, reason)  # it cannot be started as it is: no such output, no pod allowed
    return waiting(text)


def latest(namespace_: str, stream: str, tag: str, look: Look) -> Object | None:
    """Return the newest build of an image of the cluster's own registry, None where there never was one."""
    mine = (
        build
        for build in look(kinds.BUILD, namespace_)
        if read(build, "spec", "output", "to", "name") == f"{stream}:{tag}"
    )
    return max(
        mine, key=lambda build: (str(read(build, "metadata", "creationTimestamp")), _number(build)), default=None
    )


def of_image(trouble: Verdict, look: Look) -> Verdict | None:
    """Return the verdict of the build of an image that a pod cannot pull; None where no build makes that image.

    While the build runs the pod has only to wait.
    """
    pod = trouble.pod or {}
    for status in statuses(pod):
        match = _OWN_REGISTRY.search(_image(pod, str(status.get("name"))))
        if match is None or read(status, "state", "waiting", "reason") not in IMAGE:
            continue
        build = latest(match["namespace"], match["stream"], match["tag"], look)
        if build is None:
            return None
        verdict = judge(build, look)
        # An image that was built and still cannot be pulled is the pod's trouble.
        return (
            None
            if verdict.state == "done"
            else verdict.about(f"Build {metadata.namespace(build)}/{metadata.name(build)}")
        )
    return None


def _image(pod: Object, container: str) -> str:
    every = (*(read(pod, "spec", "initContainers") or ()), *(read(pod, "spec", "containers") or ()))
    return next((str(entry.get("image")) for entry in every if entry.get("name") == container), "")


def _number(build: Object) -> int:
    tail = metadata.name(build).rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0


def _pod(build: Object, look: Look) -> Object | None:
    name = metadata.annotations(build).get(_POD) or f"{metadata.name(build)}-build"
    return next((pod for pod in look(kinds.POD, metadata.namespace(build)) if metadata.name(pod) == name), None)


def judge_image_stream(obj: Object, look: Look) -> Verdict:
    """Return how far the build of the awaited tag is."""
    filled = {str(tag.get("tag")) for tag in read(obj, "status", "tags") or () if tag.get("items")}
    awaited = metadata.annotations(obj).get(names.AWAITED)
    if awaited is None:
        return DONE if filled else waiting("no image has come yet")
    if awaited in filled:
        return DONE
    build = latest(metadata.namespace(obj), metadata.name(obj), awaited, look)
    if build is not None:
        verdict = judge(build, look)
        return (
            verdict.about(f"Build {metadata.name(build)}") if verdict.state != "done" else waiting("its build is done")
        )
    start = f"oc -n {metadata.namespace(obj)} start-build {metadata.name(obj)}"
    return failing(f"no build of tag {awaited} has started: `{start}`", awaited)


RULES = (
    Rule(kinds.BUILD.group, (kinds.BUILD.kind,), judge),
    Rule(kinds.IMAGE_STREAM.group, (kinds.IMAGE_STREAM.kind,), judge_image_stream),
)
