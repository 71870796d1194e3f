"""Credentials for registries."""

import json

import pulumi
import pytest
from pydantic import ValidationError

from components.storage.scale_csi import GuiAccount
from components.tenants.pull_secret import KEY, PullSecret, PullSecretArgs, RegistryAccount, docker_config
from core.pulumi_values import REDACTED
from tests.support.recorded import component, only_object

ACCOUNTS = {"registry.example.com": RegistryAccount(username="robot", password="p:w")}


def test_config_is_what_runtimes_read() -> None:
    """The Secret has the form that container runtimes read."""
    assert json.loads(docker_config(ACCOUNTS)) == {
        "auths": {"registry.example.com": {"username": "robot", "password": "p:w", "auth": "cm9ib3Q6cDp3"}}
    }


def test_credentials_stay_secret() -> None:
    """Credentials are secret in the state and absent from the component's inputs."""

    def build() -> None:
        args = PullSecretArgs(namespace="adas", secret_name="pull")
        PullSecret("pull", args, pulumi.Output.secret(dict(ACCOUNTS)))

    recorded = component(build)
    made = only_object(recorded, "Secret", "pull").inputs
    assert made["type"] == "kubernetes.io/dockerconfigjson"
    assert made["stringData"] in (REDACTED, {KEY: REDACTED})
    assert "p:w" not in repr([item.inputs for item in recorded])


def test_accounts_show_nothing_of_themselves() -> None:
    """Neither repr nor errors of an account show its password."""
    for kind in (GuiAccount, RegistryAccount):
        planted = {"username": "planted", "password": "planted"}
        assert "planted" not in f"{kind.model_validate(planted)!r} {kind.model_validate(planted)}"
        for wrong in ({**planted, "more": "planted"}, {**planted, "password": ["planted"]}, {"username": "planted"}):
            with pytest.raises(ValidationError) as refused:
                kind.model_validate(wrong)
            assert "planted" not in f"{refused.value}{refused.value!r}"
