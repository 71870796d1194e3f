"""What an OpenShift cluster has before anybody installs anything on it, brought onto a fresh API server."""
