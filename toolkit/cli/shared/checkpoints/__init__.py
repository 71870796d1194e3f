"""Editing the state of a stack: the only place, for what the engine cannot do, and after a backup each time.

The engine writes states. `pulumi state move` splits a stack, `pulumi import` adopts, `pulumi refresh` reads what
drifted, `pulumi stack change-secrets-provider` gives a new key. Three things are left: creates that were interrupted,
an older state that is restored, and what an import does not record (`toolkit/cli/state/adopt/adoption.py`).
"""
