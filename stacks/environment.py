"""An environment: all layers, in the order of installation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pulumi
import pulumi_kubernetes as k8s
from pydantic import TypeAdapter, ValidationError

from components.jobs.outcome import ReadLog
from components.operators.kueue_operator import KueueOperator
from components.storage.scale_csi import GuiAccount
from components.storage.storage_class import StorageClass
from components.tenants.pull_secret import RegistryAccount
from components.tenants.tenant import Tenant
from core.apis import names
from core.garbage_collection import collect_never
from stacks import platform_output
from stacks.layers import (
    adoption,
    fabric,
    gpus,
    host,
    node_health,
    operators,
    own_objects,
    queues,
    storage,
    suites,
    tenants,
    workloads,
)
from stacks.layers.operators import OfTenant
from stacks.loading import locks, settings
from stacks.loading.settings import PROJECT, Settings, SettingsError
from stacks.settings import transforms

SECRET_KEY = "scaleGui"  # noqa: S105 - the name of a key, not a secret
REGISTRIES_KEY = "registryAccounts"
Account = TypeVar("Account", GuiAccount, RegistryAccount)


def load() -> Settings:
    """Return the settings of the stack that the engine runs."""
    collect_never()
    config, stack = pulumi.Config(PROJECT), pulumi.get_stack()
    return settings.parse(config.get_object(settings.KEY), f"Pulumi.{stack}.yaml", stack)


@dataclass(frozen=True)
class Accounts:
    """Secrets of the stack: accounts of Spectrum Scale GUIs by secret, and of registries by host."""

    guis: pulumi.Output[dict[str, GuiAccount]]
    registries: pulumi.Output[dict[str, RegistryAccount]]


def accounts(environment: Settings) -> Accounts:
    """Return the accounts from the stack's secrets.

    A simulated cluster has nothing to log in to: missing accounts get placeholders.
    """
    guis, registries = _account_names(environment)
    simulated = environment.cluster.simulated
    return Accounts(
        guis=_secrets(SECRET_KEY, guis, GuiAccount, simulated=simulated),
        registries=_secrets(REGISTRIES_KEY, registries, RegistryAccount, simulated=simulated),
    )


def placeholder_accounts(environment: Settings, value: str) -> Accounts:
    """Return accounts whose every field is `value`, for programs that only render."""
    guis, registries = _account_names(environment)
    return Accounts(
        guis=pulumi.Output.secret({name: GuiAccount(username=value, password=value) for name in guis}),
        registries=pulumi.Output.secret({host: RegistryAccount(username=value, password=value) for host in registries}),
    )


def _account_names(environment: Settings) -> tuple[Sequence[str], Sequence[str]]:
    """Return what has accounts: secrets of GUIs, and hosts of registries."""
    stored = environment.storage if environment.has_platform else None
    guis = stored.accounts if stored else ()
    return guis, environment.pull_secret.registries if environment.pull_secret else ()


def _secrets(
    key: str, account_names: Sequence[str], model: type[Account], *, simulated: bool
) -> pulumi.Output[dict[str, Account]]:
    secret = pulumi.Config(PROJECT).get_secret(key) if account_names else None
    if secret is None:
        if account_names and not simulated:
            raise SettingsError(_missing(key, account_names))
        made_up = {name: model(username="simulated", password="simulated") for name in account_names}  # noqa: S106
        return pulumi.Output.secret(made_up)

    def check(text: str) -> dict[str, Account]:
        try:
            credentials = TypeAdapter(dict[str, model]).validate_json(text)  # type: ignore[valid-type]
        except ValidationError:
            # The error itself would show the values.
            credentials = {}
        if missing := [name for name in account_names if name not in credentials]:
            raise SettingsError(_missing(key, missing))
        return credentials

    return secret.apply(check)


def _missing(key: str, names: Sequence[str]) -> str:
    part = f".{names[0]}" if "." not in names[0] else f'["{names[0]}"]'
    return (
        f"{PROJECT}:{key} has no username and password for {', '.join(names)}; set each with e.g. "
        f"`pulumi config set --secret --path '{PROJECT}:{key}{part}.password'` and the same for `.username`"
    )


def provider(environment: Settings, root: Path, checked: pulumi.Output[Any] | None = None) -> k8s.Provider:
    """Return the one provider of the stack; it names its cluster, whatever the current context is.

    It depends on `checked`, and on nothing else.
    """
    cluster = environment.cluster
    return k8s.Provider(
        "cluster",
        kubeconfig=str(cluster.path(root)),
        context=cluster.context if checked is None else checked.apply(lambda _: cluster.context),
        cluster_identifier=cluster.identifier,
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
        # The stack owns what it declares: the next update repairs manual changes, without a conflict.
        enable_patch_force=True,
    )


def _reader(environment: Settings, root: Path) -> ReadLog:
    def read(namespace: str, job: str) -> str:
        # The client takes half a second to import, and only a failed job needs it.
        from stacks.layers import failed_jobs  # noqa: PLC0415

        cluster = environment.cluster
        return failed_jobs.messages(cluster.path(root), cluster.context, namespace, job)

    return read


@dataclass(frozen=True)
class Platform:
    """What tenants are declared on; empty where another stack has declared it."""

    settled: pulumi.ResourceOptions
    """Options of resources that depend on the nodes' configuration and labels."""
    devices: Sequence[fabric.Part] = ()
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    kueue: Sequence[KueueOperator] = ()
    ready: Sequence[pulumi.Output[Any]] = ()
    """Names that are known when jobs can use it."""


def build(
    environment: Settings, credentials: Accounts, root: Path, checked: pulumi.Output[Any] | None = None
) -> Mapping[str, Any]:
    """Declare the environment and return the stack's outputs: names only, since job states are read live.

    Of an environment in layers it is the layer of the settings. Tenants come after `checked`, which fails when their
    platform does not match its file (`platform_output.platform`); without it, the platform is not checked.
    """
    locked, own = locks.read(environment, root), own_objects.read(environment.objects, root, environment.places)
    adoption.keep(environment.adopted)
    transforms.merge(environment.extra)
    own_objects.refuse_declared(own)
    opts = pulumi.ResourceOptions(provider=provider(environment, root, checked))
    platform = _platform(environment, credentials, opts) if environment.has_platform else Platform(settled=opts)
    teams = tenants.build(environment, opts)
    tenants.data_sets(locked, teams, opts)
    applied, of_teams = own_objects.build(own, platform.ready, teams, opts, protect=environment.protect)
    ready = [*platform.ready, *applied]
    queued = queues.build(environment, platform.kueue, teams, opts)
    parts = [
        *_of_tenants(environment, credentials, platform, teams, opts),
        *of_teams,
        *(OfTenant(name, queue) for component in queued for name, queue in component.active.items()),
    ]
    jobs = workloads.build(environment, ready, parts, _reader(environment, root), locks=locked, opts=opts)
    suites.build(environment, ready, parts, locks=locked, opts=opts)
    return {
        "release": environment.release,
        "nodes": [node.name for node in environment.gpu_nodes],
        "tenants": list(teams),
        "rdmaResources": [names.RDMA_PREFIX + resource for resource in environment.rdma_resources],
        "jobs": jobs,
        **(
            {}
            if environment.has_tenants
            else platform_output.outputs(environment, [*ready, *(component.queues for component in queued)])
        ),
    }


def _platform(environment: Settings, credentials: Accounts, opts: pulumi.ResourceOptions) -> Platform:
    labelled = host.label(environment, opts)
    configured = host.build(environment, labelled, opts)
    # Interfaces have their new names, and nodes have rebooted, before drivers are built on them.
    features = operators.node_features(environment, opts)
    # Policies and plugins select nodes by labels, which exist by then.
    settled = operators.after(opts, labelled, *features, *(configured if environment.tuning else ()))
    enabled = gpus.build(environment, settled)
    operator = operators.mpi(environment, opts)
    devices = fabric.build(environment, settled)
    stored = storage.build(environment, credentials.guis, [*configured, *devices], opts)
    added = operators.added(environment, opts)
    node_health.build(environment, added, operators.after(opts, labelled))
    training = operators.trainer(environment, added, opts)
    kueue = queues.operator(environment, [*operator, *added.resources, *training], opts)
    ready = [
        *(fabric.ready_name(part) for part in devices),
        *(host.ready_name(part) for part in configured),
        *(part.instance for part in features),
        enabled,
        *(part.ready for part in operator),
        *added.ready,
        *(part.runtime for part in training),
        *stored.ready,
        *tenants.constraints(environment, opts),
        *(part.class_name for part in tenants.priority_classes(environment, opts)),
    ]
    return Platform(settled, devices, stored.classes, kueue, ready)


def _of_tenants(
    environment: Settings,
    credentials: Accounts,
    platform: Platform,
    teams: Mapping[str, Tenant],
    opts: pulumi.ResourceOptions,
) -> list[OfTenant]:
    secrets = tenants.pull_secrets(environment, teams, credentials.registries, opts)
    namespaces = {name: team.namespace for name, team in teams.items()}
    return [
        *fabric.port_networks(environment, platform.devices, teams, platform.settled),
        *storage.data(environment, platform.classes, namespaces, opts),
        *(OfTenant(name, team.ready) for name, team in teams.items()),
        *(OfTenant(name, part.ready) for name, part in tenants.gpu_claims(environment, teams, opts).items()),
        *(OfTenant(name, part.secret_name) for name, part in secrets.items()),
        *tenants.builds(environment, teams, secrets, opts),
    ]
