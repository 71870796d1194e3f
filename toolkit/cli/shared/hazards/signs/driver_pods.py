"""Pods of operators that fail for reasons outside of them: secure boot and unsigned drivers, tags that a mirror lacks.

No object says that secure boot is on; the driver's container does, when the kernel refuses its modules.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds
from policies.manifests.values import entries, read
from stacks.checks.operator import subscriptions
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.hazard import nodes as place
from toolkit.cli.shared.hazards.live import Live, Object
from toolkit.review.sentences import quoted

_DRIVERS = ("nvidia-driver-daemonset", "nvidia-gpu-driver", "mofed-")
"""Beginnings of the names of pods that load a driver."""
_REFUSED = ("Key was rejected by service", "Required key not available")
"""The kernel's words for EKEYREJECTED and ENOKEY: a module without a signature that it trusts."""
_PULLS = ("ErrImagePull", "ImagePullBackOff")
_ABSENT = re.compile(r"manifest unknown|name unknown|not found|NAME_UNKNOWN|MANIFEST_UNKNOWN", re.IGNORECASE)
_LOGS = 3
"""Pods whose log is read: those of one driver fail alike."""
_UNSIGNED = (
    "Use images with signed modules (`usePrecompiled`, of your own build for OpenShift), enrol the key that signs them "
    "(MOK) on each node, or turn secure boot off."
)


def hazards(settings: Settings, live: Live) -> Iterator[Hazard]:
    """Yield drivers whose modules a kernel refuses, and images that no registry of the site has."""
    spaces = sorted({operator.namespace for _, operator in subscriptions(settings)})
    pods = [pod for space in spaces for pod in live.list(kinds.POD, space)]
    yield from _refused(pods, live)
    yield from _absent(pods, live)


def _refused(pods: Sequence[Object], live: Live) -> Iterator[Hazard]:
    failing = [
        (pod, status)
        for pod in pods
        if metadata.name(pod).startswith(_DRIVERS)
        for status in _statuses(pod)
        if not status.get("ready") and (_end(status) or status.get("restartCount"))
    ]
    refused: dict[str, list[str]] = {}
    logs = 0
    for pod, status in failing:
        text = str(read(_end(status), "message") or "")
        if not any(word in text for word in _REFUSED) and logs < _LOGS:
            text, logs = live.last_lines(pod, str(status.get("name"))), logs + 1
        if word := next((word for word in _REFUSED if word in text), ""):
            refused.setdefault(word, []).append(str(read(pod, "spec", "nodeName")))
    for word, names in refused.items():
        cause = f"the kernel refuses the driver's modules ({word}): secure boot is on, and they are not signed for it"
        yield Hazard("secure-boot", place({*names}), cause, _UNSIGNED, "errno 129 and 126 of Linux, module signing")


def _absent(pods: Sequence[Object], live: Live) -> Iterator[Hazard]:
    lacking: dict[str, tuple[str, list[str]]] = {}
    for pod in pods:
        for status in _statuses(pod):
            waiting = read(status, "state", "waiting") or {}
            if waiting.get("reason") in _PULLS and (why := _cause(pod, str(waiting.get("message") or ""), live)):
                lacking.setdefault(str(status.get("image")), (why, []))[1].append(metadata.path(pod))
    for image, (why, paths) in sorted(lacking.items()):
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        cause = f"no registry or mirror of the site has {image}: {why}"
        remedy = "Mirror the image, with the tag for the nodes' release, or correct the version in the settings."
        yield Hazard("image-missing", f"Pod {min(paths)}{more}", cause, remedy)


def _cause(pod: Object, message: str, live: Live) -> str:
    """Return that a registry does not have an image, in its words; a kubelet that waits says it in an event alone."""
    texts = [message]
    if not _ABSENT.search(message):
        uid = metadata.uid(pod)
        events: Sequence[Mapping[str, Any]] = live.list(kinds.EVENT, metadata.namespace(pod))
        texts += [str(event.get("message")) for event in events if uid and read(event, "involvedObject", "uid") == uid]
    return next((quoted(text, 200) for text in texts if _ABSENT.search(text)), "")


def _statuses(pod: Object) -> list[Object]:
    return [*entries(pod, "status", "initContainerStatuses"), *entries(pod, "status", "containerStatuses")]


def _end(status: Object) -> Object:
    return read(status, "state", "terminated") or read(status, "lastState", "terminated") or {}
