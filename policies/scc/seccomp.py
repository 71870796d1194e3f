"""Seccomp profiles in their two spellings, and which of them an SCC lets pass.

The field and the old annotation mean the same; the plugin fills the one from the other and judges the annotation.
"""

from policies.scc.constraints import DOCKER_DEFAULT, RUNTIME_DEFAULT, Constraint
from policies.scc.messages import forbidden
from policies.scc.pods import Container, Pod, Seccomp

POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod"
CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/"
PROFILE = "seccompProfile"
"""The field of a security context that replaces the old annotations."""

_PATH = "pod.metadata.annotations["
_UNCONFINED, _LOCAL = "unconfined", "localhost/"
_TO_TEXT = {"Unconfined": _UNCONFINED, "RuntimeDefault": RUNTIME_DEFAULT}
_TO_FIELD = {
    _UNCONFINED: Seccomp("Unconfined", None),
    RUNTIME_DEFAULT: Seccomp("RuntimeDefault", None),
    DOCKER_DEFAULT: Seccomp("RuntimeDefault", None),
}


def written(profile: Seccomp) -> str:
    """Return a profile as the annotation writes it, "" for one that has no such spelling."""
    if profile.type == "Localhost" and profile.file is not None:
        return _LOCAL + profile.file
    return _TO_TEXT.get(profile.type, "")


def parsed(annotation: str) -> Seccomp | None:
    """Return the profile that an annotation names, None for one that cannot stand in the field."""
    if annotation.startswith(_LOCAL) and annotation != _LOCAL:
        return Seccomp("Localhost", annotation.removeprefix(_LOCAL))
    return _TO_FIELD.get(annotation)


def chosen(pod: Pod, constraint: Constraint) -> str:
    """Return the profile of a pod as an annotation: its own, else the first that the SCC names."""
    if pod.seccomp is not None:
        return written(pod.seccomp)
    return pod.annotations.get(POD_ANNOTATION) or next(iter(constraint.seccomp), "")


def pod_fault(pod: Pod, constraint: Constraint) -> str | None:
    """Return why the pod's own profile may not be used, None when it may."""
    profile = pod.annotations.get(POD_ANNOTATION, "")
    if not profile and pod.seccomp is not None:
        profile = written(pod.seccomp)
    return _fault(constraint, profile, POD_ANNOTATION)


def container_fault(pod: Pod, container: Container, constraint: Constraint) -> str | None:
    """Return why the profile that a container ends up with may not be used, None when it may."""
    key = CONTAINER_ANNOTATION + container.name
    if container.seccomp is not None:
        profile = written(container.seccomp)
    elif key in pod.annotations:
        profile = pod.annotations[key]
    elif pod.seccomp is not None:
        profile = written(pod.seccomp)
    else:
        profile = pod.annotations.get(POD_ANNOTATION, "")
    return _fault(constraint, profile, key)


def about_profile(message: str) -> bool:
    """Return whether a fault is about a profile; it names an annotation, wherever the profile is."""
    return message.startswith((f"{_PATH}{POD_ANNOTATION}]", f"{_PATH}{CONTAINER_ANNOTATION}"))


def _fault(constraint: Constraint, profile: str, annotation: str) -> str | None:
    allowed, path = constraint.seccomp, f"{_PATH}{annotation}]"
    if constraint.any_seccomp or profile in allowed:
        return None
    if not allowed:
        return forbidden(path, "seccomp may not be set") if profile else None
    defaults = {RUNTIME_DEFAULT, DOCKER_DEFAULT}
    if profile in defaults and defaults.intersection(allowed):
        return None
    return forbidden(path, f"{profile} is not an allowed seccomp profile. Valid values are [{' '.join(allowed)}]")
