"""The process of all actors of one cluster: `python -m toolkit.simulator.actors --home HOME`."""

import argparse
import logging
import signal
import sys
import threading
from pathlib import Path

from toolkit.simulator import state
from toolkit.simulator.actors.builds import Builds
from toolkit.simulator.actors.deviceplugins import DevicePlugins
from toolkit.simulator.actors.informer import Informer
from toolkit.simulator.actors.kubelet import Kubelet
from toolkit.simulator.actors.kubeletconfigs import KubeletConfigs
from toolkit.simulator.actors.losses import Losses
from toolkit.simulator.actors.machineconfig import MachineConfigs
from toolkit.simulator.actors.metrics_server import MetricsServer
from toolkit.simulator.actors.namespaces import NamespaceSecurity
from toolkit.simulator.actors.nfd_workers import NfdWorkers
from toolkit.simulator.actors.olm import Olm
from toolkit.simulator.actors.packageserver import PackageServer
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.provisioning import SimFiles
from toolkit.simulator.actors.running_actors import RunningActors
from toolkit.simulator.actors.runtime import Runtime, Settings
from toolkit.simulator.actors.service_ca import ServiceCa
from toolkit.simulator.actors.service_names import ServiceNames
from toolkit.simulator.actors.service_network import ServiceNetwork
from toolkit.simulator.home import Layout

SYNC_SECONDS = 60
"""How long the first lists may take before the process gives up."""


def settings(home: Path) -> Settings:
    """Return the settings that the cluster was started with; exit when there is no cluster."""
    cluster = state.load(Layout(home))
    if cluster is None:
        sys.exit(f"{home} has no cluster.json: start the cluster with `./hpc sim up`")
    spec = cluster.spec
    return Settings(
        home=home,
        run_seconds=spec.run_seconds,
        mpi=spec.mpi,
        release=spec.release,
        openshift=spec.openshift,
        tools=cluster.tools,
        hosted=spec.hosted,
        ports=cluster.ports.model_dump(include={*state.CONTROLLERS, *state.CATALOGUES.values(), state.METRICS}),
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
    network = ServiceNetwork(runtime)
    names = ServiceNames(network)
    parts = (
        *(
            NamespaceSecurity(runtime),
            names,
            Olm(runtime, names),
            PackageServer(runtime),
            *(() if chosen.hosted else (MachineConfigs(runtime), KubeletConfigs(runtime))),
            SimFiles(runtime),
            Builds(runtime),
            ServiceCa(runtime),
        ),
        *(
            logs,
            network,
            DevicePlugins(runtime),
            NfdWorkers(runtime, logs),
            Losses(runtime),
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
    parser = argparse.ArgumentParser(prog="python -m toolkit.simulator.actors", description=__doc__)
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
