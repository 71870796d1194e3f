"""The results of the provider in use, of all selected cases, run once and many at a time."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.provider import api_server
from tests.contract.provider.cases import Case, load
from tests.contract.provider.plugin import Binary, provider_in_use
from tests.contract.provider.record import require_official
from tests.contract.provider.runner import Runner
from toolkit.engine import tools
from toolkit.engine.errors import SimulatorError

CASES = {case.name: case for case in load()}


@pytest.fixture(scope="session")
def provider() -> Binary:
    """Give the provider that the engine would take here."""
    return provider_in_use()


@pytest.fixture(scope="package")
def results(request: pytest.FixtureRequest, provider: Binary) -> Iterator[dict[str, list[Any]]]:
    """Give the results of the cases whose tests are to run."""
    try:
        tools.ensure(api_server.TOOLS)
    except SimulatorError as error:
        pytest.skip(f"needs etcd and kube-apiserver: {error}")
    home = Path(tempfile.mkdtemp(prefix="hpc-contract-"))
    with api_server.running(home) as api, Runner(provider.path, api, home) as runner:
        if provider.official:
            require_official(provider.path, official=True, schema=runner.schema())
        yield runner.run(_wanted(request.session))


def _wanted(session: pytest.Session) -> list[Case]:
    """Return the cases of the tests that were selected; all where a test is about all."""
    names = {item.callspec.params.get("name") for item in session.items if hasattr(item, "callspec")}
    every = any(item.get_closest_marker("every_case") for item in session.items)
    return [case for case in CASES.values() if every or case.name in names]
