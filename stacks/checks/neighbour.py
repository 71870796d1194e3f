"""What tenants of different stacks on one platform must not share."""

from collections.abc import Iterator
from itertools import product
from posixpath import normpath

from stacks.settings.platform import Settings
from stacks.settings.tenants import TenantSettings


def problems(settings: Settings) -> Iterator[str]:
    """Yield what a tenant of this stack has in common with one of another stack; the message names that file."""
    for file, other in settings.others:
        for own in settings.tenants:
            where = f"{other.namespace} in {file}"
            if own.namespace == other.namespace:
                yield f"tenants: namespace {own.namespace} is in {file}, too; give each its own"
            if own.mcs == other.mcs:
                yield f"tenants: mcs {own.mcs} of {own.namespace} is that of {where}; give each its own"
            if own.uid_range.overlaps(other.uid_range):
                yield (
                    f"tenants: uid_range {own.uid_range} of {own.namespace} overlaps {other.uid_range} of {where}; "
                    "give each tenant a block of its own"
                )
            yield from _data(own, other, where)


def _data(own: TenantSettings, other: TenantSettings, where: str) -> Iterator[str]:
    """Yield a volume or a directory that both have; checks.tenant has the reason why they cannot share it."""
    # Of all pairs, so no PurePosixPath: 300 tenants beside 300 took 1 s of it.
    for (place, own_directory), (_, their_directory) in product(own.directories, other.directories):
        if own_directory.volume == their_directory.volume:
            yield (
                f"tenants: {place}.volume {own_directory.volume} of {own.namespace} is that of {where}; "
                "give each its own"
            )
        own_path, their_path = (
            f"{normpath(directory.path).rstrip('/')}/" for directory in (own_directory, their_directory)
        )
        if own_path.startswith(their_path) or their_path.startswith(own_path):
            yield (
                f"tenants: {place}.path {own_directory.path} of {own.namespace} and {their_directory.path} of {where} "
                "have files in common: OpenShift labels files for one namespace, and the other loses access; "
                "give each its own"
            )
