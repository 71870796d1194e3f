"""A real Prometheus on loopback, over a configuration file, for as long as a test runs."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from core.apis import kinds
from tests.support import debian
from toolkit.simulator.actors.api import Api
from toolkit.simulator.processes import ports

_PATIENCE = 60.0  # seconds until a condition that must come counts as not coming
FIRING = 'ALERTS{alertstate="firing"}'
Series = Mapping[str, str]


def page(address: str, path: str) -> str:
    """Return the text of a path of the server at an address."""
    with urlopen(f"{address}/{path.lstrip('/')}", timeout=10) as answer:  # noqa: S310 - loopback
        return str(answer.read().decode())


@dataclass(frozen=True)
class Prometheus:
    """Queries to a running one."""

    address: str
    log: Path

    def query(self, expression: str) -> list[tuple[Series, float]]:
        """Return labels and value of each series of an expression at this moment."""
        answer = self._get(f"/api/v1/query?{urlencode({'query': expression})}")
        return [(series["metric"], float(series["value"][1])) for series in answer["data"]["result"]]

    def labels(self, expression: str, name: str) -> set[str]:
        """Return the values of a label of an expression's series."""
        return {series.get(name, "") for series, _ in self.query(expression)}

    def expect(self, *alerts: str) -> None:
        """Wait until exactly these alerts fire, and none is pending."""
        self.eventually(lambda: self.labels("ALERTS", "alertname") == {*alerts}, f"expected {alerts}")
        self.eventually(lambda: self.labels(FIRING, "alertname") == {*alerts}, f"expected {alerts} to fire")

    def eventually(self, condition: Callable[[], object], expectation: str) -> None:
        """Wait until a condition holds; fail with what is wanted and the alerts that there are."""
        until = time.monotonic() + _PATIENCE
        while not condition():
            assert time.monotonic() < until, (
                f"{expectation}; alerts: {self.query('ALERTS')}; log: {self.log.read_text()}"
            )
            time.sleep(0.1)

    def evaluated(self, times: int = 2) -> None:
        """Wait until all rules were evaluated so many times from now on, with what was scraped meanwhile."""
        for _ in range(times):
            before = self._evaluations()
            self.eventually(
                lambda before=before: not self._evaluations() & before,  # type: ignore[misc]
                "rules are not evaluated",
            )

    def _evaluations(self) -> set[tuple[str, str]]:
        groups = self._get("/api/v1/rules")["data"]["groups"]
        return {(group["name"], group["lastEvaluation"]) for group in groups}

    def _get(self, path: str) -> Any:
        with urlopen(f"{self.address}{path}", timeout=10) as answer:  # noqa: S310 - loopback
            return json.load(answer)


def declared(api: Api) -> list[dict[str, Any]]:
    """Return the groups of a cluster's PrometheusRules, at an interval of a second, with `for` shortened to it."""
    groups = [group for rules in api.list(kinds.PROMETHEUS_RULE)["items"] for group in rules["spec"]["groups"]]
    for group in groups:
        group.pop("interval", None)
    for rule in (rule for group in groups for rule in group["rules"] if "for" in rule):
        rule["for"] = "1s"
    return groups


def configured(address: str, groups: list[dict[str, Any]], folder: Path) -> Path:
    """Write what a cluster serves for a Prometheus, with intervals of one second, and rules beside it."""
    settings = yaml.safe_load(page(address, "prometheus.yml"))
    settings["global"] = dict.fromkeys(settings["global"], "1s")
    (discovery,) = settings["scrape_configs"][0]["http_sd_configs"]
    discovery["refresh_interval"] = "1s"
    (folder / settings["rule_files"][0]).write_text(yaml.safe_dump({"groups": groups}))
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(settings))
    return file


@contextmanager
def running(configuration: Path, folder: Path) -> Iterator[Prometheus]:
    """Run it with its data in a folder; it is ready when this yields, and stopped at the end."""
    program, log = debian.program("prometheus"), folder / "prometheus.log"
    address = f"{ports.LOOPBACK}:{ports.free()}"
    command = [
        str(program),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, env=dict(debian.environment()), stdout=file, stderr=file)
    try:
        prometheus = Prometheus(f"http://{address}", log)
        until = time.monotonic() + _PATIENCE
        while not _ready(prometheus):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield prometheus
    finally:
        process.terminate()
        process.wait(timeout=30)


def _ready(prometheus: Prometheus) -> bool:
    with suppress(URLError, OSError), urlopen(f"{prometheus.address}/-/ready", timeout=5) as answer:  # noqa: S310 - loopback
        return bool(answer.status == 200)
    return False
