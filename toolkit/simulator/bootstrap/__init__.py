"""What an OpenShift cluster has before anybody installs anything on it, brought onto a fresh API server."""

from toolkit.simulator.bootstrap.apply import bootstrap, fingerprint

__all__ = ["bootstrap", "fingerprint"]
