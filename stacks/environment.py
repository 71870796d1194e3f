"""An environment: all layers, in the order of installation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pulumi
import pulumi_kubernetes as k8s
from pydantic import TypeAdapter, ValidationError

from apis import names
from components.outcome import ReadLog
from components.pull_secret import RegistryAccount
from components.scale_csi import GuiAccount
from stacks import adoption, builds, fabric, gpus, host, operators, queues, settings, storage, tenants, workloads
from stacks.settings import PROJECT, Settings, SettingsError

SECRET_KEY = "scaleGui"  # noqa: S105 - the name of a key, not a secret
REGISTRIES_KEY = "registryAccounts"
Account = TypeVar("Account", GuiAccount, RegistryAccount)


def load() -> Settings:
    """Return the settings of the stack that the engine runs."""
    config = pulumi.Config(PROJECT)
    return settings.parse(config.get_object(settings.KEY), f"Pulumi.{pulumi.get_stack()}.yaml")


@dataclass(frozen=True)
class Accounts:
    """Secrets of the stack: accounts of Spectrum Scale GUIs by secret, and of registries by host."""

    guis: pulumi.Output[dict[str, GuiAccount]]
    registries: pulumi.Output[dict[str, RegistryAccount]]


def accounts(environment: Settings) -> Accounts:
    """Return the accounts from the stack's secrets.

    A simulated cluster has nothing to log on to: accounts that are not set there are made up.
    """
    guis, registries = _wanted(environment)
    simulated = environment.cluster.simulated
    return Accounts(
        guis=_secrets(SECRET_KEY, guis, GuiAccount, simulated=simulated),
        registries=_secrets(REGISTRIES_KEY, registries, RegistryAccount, simulated=simulated),
    )


def nobody(environment: Settings, value: str) -> Accounts:
    """Return accounts of which every part is `value`, for programs that only show what would be declared."""
    guis, registries = _wanted(environment)
    return Accounts(
        guis=pulumi.Output.secret({name: GuiAccount(username=value, password=value) for name in guis}),
        registries=pulumi.Output.secret({host: RegistryAccount(username=value, password=value) for host in registries}),
    )


def _wanted(environment: Settings) -> tuple[Sequence[str], Sequence[str]]:
    """Return for what there are accounts: secrets of GUIs, and hosts of registries."""
    guis = [cluster.secret for cluster in environment.storage.clusters] if environment.storage else []
    return guis, environment.pull_secret.registries if environment.pull_secret else ()


def _secrets(
    key: str, wanted: Sequence[str], model: type[Account], *, simulated: bool
) -> pulumi.Output[dict[str, Account]]:
    secret = pulumi.Config(PROJECT).get_secret(key) if wanted else None
    if secret is None:
        if wanted and not simulated:
            raise SettingsError(_missing(key, wanted))
        made_up = {name: model(username="simulated", password="simulated") for name in wanted}  # noqa: S106
        return pulumi.Output.secret(made_up)

    def check(text: str) -> dict[str, Account]:
        try:
            known = TypeAdapter(dict[str, model]).validate_json(text)  # type: ignore[valid-type]
        except ValidationError:
            # The error itself would show the values.
            known = {}
        if missing := [name for name in wanted if name not in known]:
            raise SettingsError(_missing(key, missing))
        return known

    return secret.apply(check)


def _missing(key: str, names: Sequence[str]) -> str:
    part = f".{names[0]}" if "." not in names[0] else f'["{names[0]}"]'
    return (
        f"{PROJECT}:{key} has no username and password for {', '.join(names)}; set each with e.g. "
        f"`pulumi config set --secret --path '{PROJECT}:{key}{part}.password'` and the same for `.username`"
    )


def provider(environment: Settings, root: Path) -> k8s.Provider:
    """Return the one provider of the stack; it names its cluster, whatever the current context is."""
    cluster = environment.cluster
    return k8s.Provider(
        "cluster",
        kubeconfig=str(root / cluster.kubeconfig),
        context=cluster.context,
        cluster_identifier=cluster.identifier,
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
        # What we declare is ours: a change by hand is repaired by the next update, not reported as a conflict.
        enable_patch_force=True,
    )


def _reader(environment: Settings, root: Path) -> ReadLog:
    def read(namespace: str, job: str) -> str:
        # The client takes half a second to import, and only a failed job needs it.
        from stacks import failed_jobs  # noqa: PLC0415

        cluster = environment.cluster
        return failed_jobs.last_words(root / cluster.kubeconfig, cluster.context, namespace, job)

    return read


def build(environment: Settings, known: Accounts, root: Path) -> Mapping[str, Any]:
    """Declare the whole environment and return the stack's outputs: names only, since job states are read live."""
    adoption.keep(environment.adopted)
    opts = pulumi.ResourceOptions(provider=provider(environment, root))
    configured = host.build(environment, opts)
    # Interfaces have their new names, and nodes have rebooted, before drivers are built on them.
    features = operators.node_features(environment, opts)
    # Policies and plugins choose nodes by the labels that they have by then.
    settled = operators.after(opts, *features, *(configured if environment.tuning else ()))
    enabled = gpus.build(environment, settled)
    operator = operators.mpi(environment, opts)
    devices = fabric.build(environment, settled)
    admitted = tenants.constraints(environment, opts)
    teams = tenants.build(environment, opts)
    classes = tenants.priority_classes(environment, opts)
    secrets = tenants.pull_secrets(environment, teams, known.registries, opts)
    networks = fabric.port_networks(environment, devices, teams, settled)
    namespaces = {name: team.namespace for name, team in teams.items()}
    stored = storage.build(environment, known.guis, namespaces, opts)
    images = builds.build(environment, teams, operators.after(opts, *secrets))
    queued = queues.build(environment, teams, operator, opts)
    ready = [
        *(fabric.known(part) for part in devices),
        *(host.known(part) for part in configured),
        *(part.instance for part in features),
        enabled,
        *(part.ready for part in operator),
        *networks,
        *stored,
        *admitted,
        *(team.ready for team in teams.values()),
        *(part.class_name for part in classes),
        *(part.secret_name for part in secrets),
        *images,
        *queued,
    ]
    jobs = workloads.build(environment, ready, _reader(environment, root), opts)
    return {
        "release": environment.release,
        "nodes": [node.name for node in environment.gpu_nodes],
        "tenants": list(teams),
        "rdmaResources": [names.RDMA_PREFIX + resource for resource in environment.rdma_resources],
        "jobs": jobs,
    }
