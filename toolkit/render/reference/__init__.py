"""Write the reference pages of docs/ from the components and the settings: `python -m toolkit.render.reference`.

Like the rendered manifests, they show without an engine what the program would create. `make docs` runs it.
"""
