"""Writes the reference pages of docs/ from the components and the settings: `python -m rendering.reference`.

It stands beside the rendered manifests because it does the same with other means: it shows what the program would
make, without an engine. `make docs` runs it.
"""
