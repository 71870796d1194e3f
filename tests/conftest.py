"""Rules for all tests: every test has a layer, and under CI a skipped test is a failed one, but for those of a GPU."""

import gc
import os
from collections.abc import Generator, Iterable
from pathlib import Path

import hypothesis
import pytest

from core.garbage_collection import collect_seldom
from tests.support.scheduling import Scheduling, by_cluster, needless
from toolkit.engine.plugins.locate import plugin_choice

# A busy machine is not a fault of the code, and what is used first is built first.
hypothesis.settings.register_profile("hpc", deadline=None)
hypothesis.settings.load_profile("hpc")

pytest_plugins = ["tests.support.renders", "tests.support.buckets", "tests.support.clusters", "tests.support.golden"]

_LAYERS = ("unit", "engine", "cluster", "browser")

collect_seldom()


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Count a test without a layer as a unit test."""
    for item in items:
        if not any(item.get_closest_marker(layer) for layer in _LAYERS):
            item.add_marker(pytest.mark.unit)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no test of other layers."""
    return needless(collection_path, config.getoption("markexpr")) or None


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling | None:
    """Schedule by cluster, the longest first, where tests are divided by files."""
    return by_cluster(config, log)


def pytest_collection_finish() -> None:
    """Leave what was imported for the tests out of every later search for waste."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which plugins the engine had, where it ran."""
    reports = (report for reports in terminalreporter.stats.values() for report in reports)
    if any({"engine", "cluster"} & {*report.keywords} for report in reports if isinstance(report, pytest.TestReport)):
        places = ((plugin.binary.name, plugin.place) for plugin in plugin_choice().plugins)
        chosen = (f"{name} {f'official ({place})' if place else 'stand-in'}" for name, place in places)
        terminalreporter.write_line(f"plugins: {', '.join(chosen)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where CI=true: a layer that silently stays away proves nothing."""
    report = yield
    # No machine of CI has a GPU: those are skipped with their reason, and pytest counts them apart.
    if item.get_closest_marker("gpu") is not None:
        return report
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which CI=true does not allow: {report.longrepr}"
    return report
