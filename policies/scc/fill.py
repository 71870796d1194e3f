"""What an SCC fills in where a pod leaves something open. A value that is set is never changed, only judged later."""

from dataclasses import replace

from policies.scc.constraints import NON_ROOT
from policies.scc.pods import Capabilities, Container, Pod
from policies.scc.providers import Provider
from policies.scc.seccomp import CONTAINER_ANNOTATION, POD_ANNOTATION, chosen, parsed


def filled(pod: Pod, provider: Provider) -> Pod:
    """Return the pod as the SCC completes it, containers included."""
    seccomp, annotations = pod.seccomp, pod.annotations
    profile = chosen(pod, provider.constraint)
    if profile:
        annotations = {**annotations, POD_ANNOTATION: profile}
        seccomp = parsed(profile)
    completed = replace(
        pod,
        annotations=annotations,
        seccomp=seccomp,
        selinux=pod.selinux or provider.selinux,
        fs_group=provider.fs_group[0][0] if pod.fs_group is None and provider.fs_group else pod.fs_group,
        groups=(provider.groups[0][0],) if pod.groups is None and provider.groups else pod.groups,
    )
    return replace(
        completed, containers=tuple(_container(container, completed, provider) for container in pod.containers)
    )


def _container(container: Container, pod: Pod, provider: Provider) -> Container:
    constraint = provider.constraint
    user = container.user
    if user is None and pod.user is None and provider.uids:
        user = provider.uids[0]
    capabilities = _capabilities(container.capabilities, provider)
    annotation = pod.annotations.get(CONTAINER_ANNOTATION + container.name)
    return replace(
        container,
        user=user,
        non_root=_non_root(container, pod, user, provider),
        capabilities=capabilities,
        read_only=True if constraint.read_only and container.read_only is None else container.read_only,
        seccomp=container.seccomp if annotation is None else parsed(annotation),
        escalation=_escalation(container, capabilities, provider),
    )


def _non_root(container: Container, pod: Pod, user: int | None, provider: Provider) -> bool | None:
    if container.non_root is not None or pod.non_root is not None:
        return container.non_root
    effective = pod.user if user is None else user
    non_root = provider.constraint.user_type == NON_ROOT if effective is None else effective > 0
    return True if non_root else None


def _capabilities(declared: Capabilities | None, provider: Provider) -> Capabilities | None:
    """Add and drop what the SCC demands; lists that need no change stay as they are written, others are sorted."""
    added, dropped = ({*names} for names in declared or ((), ()))
    to_add = added | ({*provider.constraint.default_add} - dropped)
    to_drop = dropped | {*provider.constraint.required_drop}
    if to_add == added and to_drop == dropped:
        return declared
    return Capabilities(tuple(sorted(to_add)), tuple(sorted(to_drop)))


def _escalation(container: Container, capabilities: Capabilities | None, provider: Provider) -> bool | None:
    if container.escalation is not None:
        return container.escalation
    default, allowed = provider.constraint.default_escalation, provider.constraint.escalation
    # the API server refuses escalation that is off in such a container, so the SCC's default stays away from it
    needs_it = container.privileged or "CAP_SYS_ADMIN" in (capabilities.add if capabilities else ())
    if default is not None and not needs_it:
        return default
    return False if allowed is False else None
