"""`./hpc data status`: the caches of a stack's file system, as Storage Scale has them."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from cli.data.scale_gui import UNHEALTHY, Cache, ScaleGui
from cli.shared import stack as stacks
from cli.shared.console import print_text
from cli.shared.errors import Problem
from cli.shared.options import DEFAULT_STACK, JsonOption, StackOption
from cli.shared.tables import show_rows
from stacks.platform import Settings
from stacks.storage_settings import ContainerNativeStorage

USER, PASSWORD = "HPC_SCALE_USER", "HPC_SCALE_PASSWORD"
_GIB = 1 << 30
_UNHEALTHY = 1


def command(stack: StackOption = DEFAULT_STACK, *, plain: JsonOption = False) -> None:
    """Show the caches of the file system: state, queue, quota.

    Only reads. The account is in HPC_SCALE_USER and HPC_SCALE_PASSWORD. Exit status 1 where a cache is not healthy.
    """
    settings = stacks.read(stack).settings
    with gui(settings) as found:
        caches = found.caches(_file_system(settings))
    if plain:
        print(json.dumps([each._asdict() for each in caches], indent=2))  # noqa: T201 - for a program
    else:
        show_rows(
            f"Caches of {_file_system(settings)}",
            ("fileset", "state", "waiting", "gateway", "used GiB", "soft quota GiB", "details"),
            (
                (each.fileset, each.state, f"{each.queue:,}", each.gateway, *_usage(each), each.target)
                for each in caches
            ),
        )
        if not caches:
            print_text(f"file system {_file_system(settings)} has no cache")
    if ill := [each.fileset for each in caches if each.state in UNHEALTHY]:
        typer.echo(f"not healthy: {', '.join(ill)}; `mmafmctl FILE_SYSTEM getstate` says more", err=True)
        raise typer.Exit(_UNHEALTHY)


def _usage(cache: Cache) -> tuple[str, str]:
    used, soft = ("" if each is None else f"{each / _GIB:,.1f}" for each in (cache.used, cache.soft))
    return used, soft or "none: nothing is evicted by itself"


def _file_system(settings: Settings) -> str:
    if settings.storage is None:
        raise Problem("the stack has no Spectrum Scale", "Give `storage` in its settings.")
    return settings.storage.file_system.name


@contextmanager
def gui(settings: Settings) -> Iterator[ScaleGui]:
    """Yield the GUI of the cluster that owns the file system; raise Problem without storage or an account."""
    _file_system(settings)
    storage = settings.storage
    if isinstance(storage, ContainerNativeStorage):
        host = storage.remote.gui_hosts[0]
    else:
        assert storage is not None  # noqa: S101 - checked above
        others = [cluster.gui_host for cluster in storage.clusters if cluster.id != storage.own_cluster]
        host = (others or [cluster.gui_host for cluster in storage.clusters])[0]
    user, password = (os.environ.get(name, "") for name in (USER, PASSWORD))
    if not (user and password):
        raise Problem(f"the account of {host} is not given", f"Set {USER} and {PASSWORD}; neither is written anywhere.")
    if storage.ca_certificate is None:
        yield ScaleGui(host, user, password)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(storage.ca_certificate + "\n")
        file.flush()
        yield ScaleGui(host, user, password, file.name)
