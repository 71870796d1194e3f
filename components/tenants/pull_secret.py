"""Credentials with which a namespace's pods pull their images."""

import json
from base64 import b64encode
from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, stateful
from components.base.model import Account, DnsLabel, DnsName, Model
from core.apis.names import labels

KEY = ".dockerconfigjson"


class RegistryAccount(Account):
    """Account at a registry; a secret. A robot account that may only pull is enough."""


class PullSecretArgs(Model):
    """One Secret."""

    namespace: DnsLabel = Field(description="of the pods that pull")
    secret_name: DnsName = Field(
        description="what pods name in imagePullSecrets. The service account does not: there OpenShift stores its own "
        "list, and two writers of one list undo each other"
    )
    protect: bool = Field(default=False, description="refuse to delete it")


def docker_config(accounts: Mapping[str, RegistryAccount]) -> str:
    """Return the file that container runtimes read, for accounts by registry host; the order does not matter."""
    auths = {
        registry: {
            "username": account.username,
            "password": account.password,
            "auth": b64encode(f"{account.username}:{account.password}".encode()).decode(),
        }
        for registry, account in accounts.items()
    }
    return json.dumps({"auths": auths}, sort_keys=True)


class PullSecret(Component):
    """One Secret of type kubernetes.io/dockerconfigjson.

    `accounts` maps registry hosts to accounts and stays a Pulumi secret. Outputs: `secret_name`, known when it exists.
    """

    secret_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: PullSecretArgs,
        accounts: pulumi.Output[dict[str, RegistryAccount]],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tenants:PullSecret", name, args, opts)
        secret = k8s.core.v1.Secret(
            f"{name}-secret",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.secret_name, namespace=args.namespace, labels=labels(args.secret_name, "tenant")
            ),
            type="kubernetes.io/dockerconfigjson",
            string_data=accounts.apply(lambda logins: {KEY: docker_config(logins)}),
            opts=self.child(**stateful(protect=args.protect)),
        )
        self.outputs(secret_name=secret.metadata.name)
