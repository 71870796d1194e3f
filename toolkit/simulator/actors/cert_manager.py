"""cert-manager's operator brings the kinds that others wait for. Certificates are not simulated: nothing reads one."""

from core.apis.logs import SIMULATED
from toolkit.simulator.actors.podactor import PodActor


class CertManagerOperator(PodActor):
    """Says what it is."""

    def start(self) -> None:
        """Do nothing else."""
        self.say(f"{SIMULATED}: the kinds of cert-manager.io are served, and no certificate is made")
