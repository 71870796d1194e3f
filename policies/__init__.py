"""Rules over manifests, as pure functions, and the Pulumi policy pack that runs them.

This module stays empty: importing it must neither need the Pulumi SDK nor start a server.
"""
