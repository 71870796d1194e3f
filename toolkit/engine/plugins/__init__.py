"""Stand-ins for the engine's Python language host and Kubernetes provider, where those cannot be downloaded.

`locate.plugin_choice` says whether they are needed; `bin/` is what then goes on PATH.
"""
