"""Who asks for a pod, and where."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

ALL_SERVICE_ACCOUNTS = "system:serviceaccounts"
AUTHENTICATED = "system:authenticated"


@dataclass(frozen=True)
class Namespace:
    """The namespace of a pod; OpenShift allocates its ids and its SELinux level in its annotations."""

    name: str
    annotations: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class User:
    """A user or service account as the API server has authenticated it."""

    name: str
    groups: tuple[str, ...]


def service_account(namespace: str, name: str) -> User:
    """Return a service account that makes a request itself, with every group that authentication gives it."""
    run = running_as(namespace, name)
    return User(name=run.name, groups=(*run.groups, AUTHENTICATED))


def running_as(namespace: str, name: str) -> User:
    """Return the service account of a pod as the plugin builds it: it has not been authenticated, so not that group."""
    return User(
        name=f"system:serviceaccount:{namespace}:{name}",
        groups=(ALL_SERVICE_ACCOUNTS, f"{ALL_SERVICE_ACCOUNTS}:{namespace}"),
    )


def is_named(user: User, users: Collection[str], groups: Collection[str]) -> bool:
    """Return whether the lists `users` or `groups` of an SCC name the user or one of its groups."""
    return user.name in users or any(group in groups for group in user.groups)
