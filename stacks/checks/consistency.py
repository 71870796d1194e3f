"""The order of the rules that span settings: basic ones come first and hide what would only follow from them."""

from collections.abc import Iterator
from itertools import chain

from pydantic import ValidationError

from core import field_errors
from stacks.checks import (
    allocation,
    allowance,
    data_use,
    driver,
    fabric,
    image,
    instance,
    node,
    node_health,
    operator,
    pool,
    program,
    release,
    repeated,
    resilience,
    resources,
    site,
    storage,
    suite,
    tenant,
    topology,
    workload,
)
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield what is wrong between the settings; machines that differ, and unknown programs, hide the rest."""
    if pools := list(pool.problems(settings)):
        yield from pools
        return
    if not settings.gpu_nodes:
        yield "nodes: none has a machine, so no GPU; give the GPU nodes theirs, a file of core/hardware/machines"
        return
    try:
        settings.gpu_pools  # noqa: B018 - raises for ports that the machine does not have
    except ValidationError as error:
        place = next((f"pools.{name}.ports" for name, own in settings.pools.items() if own.ports), "ports")
        yield from (f"{place}: {field_errors.argument(detail).replace(': hcas: ', ': ')}" for detail in error.errors())
        return
    if pools := list(pool.between(settings)):
        yield from pools
        return
    yield from repeated("nodes", (node.name for node in settings.nodes))
    if programs := list(program.problems(settings)):
        yield from programs
        return
    yield from release.problems(settings)
    yield from operator.problems(settings)
    yield from tenant.problems(settings)
    yield from storage.problems(settings)
    yield from data_use.problems(settings)
    yield from image.problems(settings)
    yield from site.problems(settings)
    machines = [*fabric.ports(settings), *node.problems(settings)]
    yield from machines
    yield from fabric.enablement(settings)
    yield from fabric.shares(settings)
    yield from node_health.problems(settings)
    yield from driver.problems(settings)
    yield from allocation.problems(settings)
    yield from allowance.problems(settings)
    yield from instance.problems(settings)
    yield from fabric.bonds(settings)
    yield from topology.problems(settings)
    yield from resilience.problems(settings)
    if settings.site is not None:
        # Few stacks have one, and these rules import what writes the files of hosts and switches.
        from stacks.checks import site_hosts, site_switches  # noqa: PLC0415

        yield from site_hosts.problems(settings)
        yield from site_switches.problems(settings)
    names = [tenant.namespace for tenant in settings.tenants]
    if not machines and len({*names}) == len(names):  # which tenant a job of a duplicate has is not known
        faults = list(workload.problems(settings))
        yield from faults or chain(resources.problems(settings), suite.problems(settings))
