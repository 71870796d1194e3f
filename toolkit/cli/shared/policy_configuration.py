"""The rules' parameters from a stack's settings, and what is set beside them."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.apis import names
from policies.configuration import (
    BESIDE,
    WHOLE_STACK,
    Configuration,
    ConfigurationError,
    divide,
    merge,
    with_file,
    with_site_rules,
)
from policies.rule import AnyRule
from policies.rules import RULES
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.stack import RULES as FOLDERS
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import POLICIES, ROOT


def configuration(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the rules' configuration (`policies.configuration`) for the stack's release and machines.

    A rule with a parameter of a name that is known here gets the stack's value of it, unless `policies` of the settings
    has another one. Raise Problem for a fault there.
    """
    try:
        content, general = divide(with_site_rules(settings.rule_parameters, settings.rule_folders))
        rules = (*RULES, *general.own)
        Configuration(content, rules)
        return with_site_rules(merge(_derived(settings, rules), settings.rule_parameters), settings.rule_folders)
    except ConfigurationError as error:
        lines = [_located(line, settings) for line in str(error).splitlines()]
        raise Problem("\n".join(lines), "Correct `policies` in the settings of the stack.") from None


def _located(line: str, settings: Settings) -> str:
    """Return a line of an error with the place of the setting that it begins with; one about a rule's file has it."""
    shown = settings.places.shown
    for index, folder in enumerate(settings.rule_folders):
        if line.startswith(f"{folder} "):
            return f"{shown(('policies', FOLDERS, index))}{line}"
    name, colon, rest = line.partition(": ")
    rule, *fields = name.split(".")
    return f"{shown(('policies', rule, *fields))}{rest}" if colon and rule in settings.rule_parameters else line


def _derived(settings: Settings, rules: Iterable[AnyRule]) -> dict[str, dict[str, Any]]:
    named: dict[str, Any] = {
        # Constraints of a release that nothing serves are those of the next one that something does.
        "release": settings.version.simulated_as or "4.4",
        "kubernetes": settings.version.kubernetes,
        **_pool_with_rdma(settings.gpu_pools),
        "gpus_per_node": max(map(_gpus, settings.gpu_pools)),
        "pods_per_node": max(pool.most_pods for pool in settings.gpu_pools),
        "tenants": [tenant.namespace for tenant in settings.everyone],
        "devices": {
            names.RDMA_PREFIX + resource: hca.name
            for pool in settings.gpu_pools
            for resource, hca in zip(pool.rdma_resources, pool.hcas, strict=True)
        },
    }
    storage = settings.scale_pods
    derived: dict[str, dict[str, Any]] = {
        "volume-cluster": {"container_native": list(storage.known_clusters) if storage else []},
        "memlock-raised": {"elsewhere": settings.cluster.hosted},
        "gpu-limit": {"maximum": max(map(_gpus, settings.gpu_pools))},
        "scc-mpi-subjects": {"without": [tenant.namespace for tenant in settings.tenants if not tenant.rdma]},
        "scale-node-label": {"nodes": [node.name for node in settings.nodes if node.scale_client]},
    }
    if settings.queues is not None:  # whose platform declares no WorkloadPriorityClass
        derived["kueue-admits"] = {"workload_priorities": []}
    return derived | {
        rule.name: {key: named[key] for key in rule.parameters.model_fields if key in named}
        | derived.get(rule.name, {})
        for rule in rules
        if named.keys() & rule.parameters.model_fields.keys()
    }


def _pool_with_rdma(pools: Sequence[Pool]) -> dict[str, str]:
    """Return the MachineConfigPool of the nodes with RDMA, or of all where none has it; none for several."""
    own = {pool.machine_config_pool for pool in [pool for pool in pools if pool.uses_rdma] or pools}
    return {"pool": own.pop()} if len(own) == 1 else {}


def _gpus(pool: Pool) -> int:
    """Return how much nvidia.com/gpu a node has, at most: it counts parts of GPUs where all parts are the same."""
    uniform = isinstance(pool.gpu, GpuOperatorSettings) and pool.gpu.mig == "single"
    return pool.most_pods if uniform else pool.machine.gpus


def settled(settings: Settings, file: Path | None = None) -> dict[str, Any]:
    """Return the configuration of a stack with that of a file over it; raise Problem for a file with a fault in it."""
    try:
        return with_file(configuration(settings) | _beside(settings), file)
    except ConfigurationError as error:
        raise Problem(str(error), "Correct the file that --config names.") from None


def _beside(settings: Settings) -> dict[str, Any]:
    """Return what lets links of tenants end at objects of their platform, whose stack the engine does not show.

    Its file stands for the stack: the program refuses tenants whose platform does not offer what its file has.
    """
    if not isinstance(settings, TenantsLayer):
        return {}
    from toolkit.render.manifests import manifests, registrations_of_platform  # noqa: PLC0415 - other stacks have no need of it

    return {WHOLE_STACK: {BESIDE: manifests(registrations_of_platform(settings, ROOT))}}


@contextmanager
def policy_arguments(policies: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield what makes the engine run the policies with a configuration of them."""
    with tempfile.NamedTemporaryFile("w", prefix="hpc-policies-", suffix=".json") as file:
        json.dump(policies, file)
        file.flush()
        yield ["--policy-pack", str(POLICIES), "--policy-pack-config", file.name]
