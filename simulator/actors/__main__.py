"""The process of all actors of one cluster: `python -m simulator.actors --home HOME`."""

import argparse
import logging
import signal
import sys
import threading
from pathlib import Path

from simulator import state
from simulator.actors.builds import Builds
from simulator.actors.deviceplugins import DevicePlugins
from simulator.actors.informer import Informer
from simulator.actors.kubelet import Kubelet
from simulator.actors.kubeletconfigs import KubeletConfigs
from simulator.actors.machineconfig import MachineConfigs
from simulator.actors.metrics_server import MetricsServer
from simulator.actors.namespaces import NamespaceSecurity
from simulator.actors.olm import Olm
from simulator.actors.packageserver import PackageServer
from simulator.actors.podlogs import PodLogs
from simulator.actors.running_actors import RunningActors
from simulator.actors.runtime import Runtime, Settings
from simulator.actors.service_ca import ServiceCa
from simulator.actors.service_network import ServiceNetwork
from simulator.actors.sim_files import SimFiles
from simulator.home import Layout

SYNC_SECONDS = 60
"""How long the first lists may take before the process gives up."""


def settings(home: Path) -> Settings:
    """Return the settings that the cluster was started with; exit when there is no cluster."""
    known = state.load(Layout(home))
    if known is None:
        sys.exit(f"{home} has no cluster.json: start the cluster with `./hpc sim up`")
    spec = known.spec
    return Settings(
        home=home,
        run_seconds=spec.run_seconds,
        mpi=spec.mpi,
        release=spec.release,
        tools=known.tools,
        hosted=spec.hosted,
        ports=known.ports.model_dump(include={*state.CONTROLLERS, state.METRICS}),
    )


def run(chosen: Settings, stopped: threading.Event) -> None:
    """Simulate everything until `stopped`; exit with a message when the API server does not answer."""
    runtime = Runtime(chosen)
    caches: tuple[Informer, ...] = runtime.caches
    for cache in caches:
        cache.start()
    if not all(cache.wait_synced(SYNC_SECONDS) for cache in caches):
        sys.exit("the API server did not answer the kubelet's first requests; see the lines above")
    logs = PodLogs(runtime)
    actors = RunningActors(runtime, logs)
    parts = (
        *(
            NamespaceSecurity(runtime),
            Olm(runtime),
            PackageServer(runtime),
            *(() if chosen.hosted else (MachineConfigs(runtime), KubeletConfigs(runtime))),
            SimFiles(runtime),
            Builds(runtime),
            ServiceCa(runtime),
        ),
        *(
            logs,
            ServiceNetwork(runtime),
            DevicePlugins(runtime),
            Kubelet(runtime, logs),
            actors,
            MetricsServer(runtime),
        ),
    )
    for part in parts:
        part.start()
    logging.info("simulating")
    stopped.wait()
    actors.stop()


def main() -> None:
    """Read the command line and simulate until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m simulator.actors", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="folder of the simulated cluster")
    home = parser.parse_args().home.absolute()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(message)s", stream=sys.stderr)
    # A reader of many watches has more connections than the pool's size now and then, which is harmless.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    run(settings(home), stopped)


if __name__ == "__main__":
    main()
