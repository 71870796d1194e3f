"""The layers that an update installs, in their order."""
