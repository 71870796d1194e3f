"""Runs many cases at once, with a process for each choice of provider."""

import json
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.contract.provider.api_server import ApiServer, wait_until
from tests.contract.provider.cases import Case, ProviderChoice
from tests.contract.provider.kubeconfigs import Kubeconfigs
from tests.contract.provider.normal import normal
from tests.contract.provider.plugin import Engine, Plugin
from tests.contract.provider.steps import CaseRun

CASES_AT_ONCE = 8


class Runner:
    """Runs cases against one API server with one provider binary."""

    def __init__(self, binary: Path, api: ApiServer, home: Path) -> None:
        self._binary, self._api, self._home = binary, api, home
        self._engine = Engine()
        self._plugins: dict[str, Plugin] = {}
        self._lock = threading.Lock()
        self._files = Kubeconfigs(api, home)

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        for plugin in self._plugins.values():
            plugin.stop()
        self._engine.stop()

    def run(self, cases: Iterable[Case]) -> dict[str, list[Any]]:
        """Return the results of the cases, a list of one result for each step."""
        wanted = list(cases)
        with ThreadPoolExecutor(CASES_AT_ONCE) as pool:
            # Those that take long start first, so that no one waits for them at the end.
            running = {
                case.name: pool.submit(self._one, case) for case in sorted(wanted, key=lambda case: not case.slow)
            }
            return {case.name: running[case.name].result() for case in wanted}

    def schema(self) -> str:
        """Return the schema of the provider."""
        plugin = Plugin(self._binary, self._engine, {})
        try:
            return plugin.schema()
        finally:
            plugin.stop()

    def _one(self, case: Case) -> list[Any]:
        self._namespace(case.name)
        own = case.provider.own or any("configure" in step for step in case.steps)
        plugin = self._started(case.provider) if own else self._shared(case.provider)
        run = CaseRun(case, self._api, plugin, self._engine, self._files)
        try:
            results = list(run.steps())
        finally:
            if own:
                run.plugin.stop()
        text = json.dumps(normal(results)).replace(str(self._home), "<home>")
        return list(json.loads(text))

    def _namespace(self, name: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"case": name}}}
        made = self._api.request("POST", "/api/v1/namespaces", body)
        assert made.status == 201, made.body
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        wait_until(lambda: self._api.get(account) is not None, f"the account of {name}")

    def _shared(self, choice: ProviderChoice) -> Plugin:
        key = choice.model_dump_json()
        with self._lock:
            if key not in self._plugins:
                self._plugins[key] = self._started(choice)
            return self._plugins[key]

    def _started(self, choice: ProviderChoice) -> Plugin:
        plugin = Plugin(self._binary, self._engine, self._files.filled(choice.environment))
        usual = {"kubeconfig": str(self._api.kubeconfig), "context": self._api.context}
        settings = {**usual, **self._files.filled(choice.settings)}
        plugin.configure({key: value for key, value in settings.items() if value is not None})
        return plugin
