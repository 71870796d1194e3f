"""What the project's own parts take at one size, in a process of its own: settings, render, manifests, policies.

python -m bench.program_cost NODES TENANTS prints a line of JSON: CPU seconds, MiB at most, resources, dependencies.
"""

import gc
import json
import resource
import subprocess
import sys
import time
from itertools import pairwise

from bench.scaled import platform
from toolkit.cli.shared.paths import ROOT


def measured(nodes: int, tenants: int) -> dict[str, float]:
    """Measure in a new process and return its figures."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.program_cost", str(nodes), str(tenants)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main(nodes: int, tenants: int) -> None:
    """Measure each part once; what is imported is imported before."""
    from bench import projects  # noqa: PLC0415
    from policies.check import Checker  # noqa: PLC0415
    from policies.configuration import Configuration  # noqa: PLC0415
    from policies.manifests.inventory import Inventory  # noqa: PLC0415
    from policies.manifests.objects import objects  # noqa: PLC0415
    from toolkit.cli.shared.policy_configuration import configuration  # noqa: PLC0415
    from toolkit.render.manifests import manifests  # noqa: PLC0415

    projects.recorded(projects.read(platform(ROOT, 4, 3)))  # imports what is imported late
    values = platform(ROOT, nodes, tenants)
    times = [time.process_time()]
    settings = projects.read(values)
    times.append(time.process_time())
    registrations = projects.recorded(settings)
    times.append(time.process_time())
    gc.collect()
    gc.freeze()  # What the recorder keeps is not part of the policies' time.
    times.append(time.process_time())
    declared = [obj for manifest in manifests(registrations) for obj in objects(manifest)]
    checker = Checker(configuration=Configuration(configuration(settings)))
    findings = list(checker.check(declared, Inventory(declared, complete=True)))
    times.append(time.process_time())
    if findings:
        raise SystemExit(f"the measured settings break policies: {findings[0]}")
    load, render, _, policies = (after - before for before, after in pairwise(times))
    figures = {
        "load": load,
        "render": render,
        "policies": policies,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "resources": len(registrations),
        "dependencies": sum(len(registration.dependencies) for registration in registrations),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
