"""The simulated Spectrum Discover: its REST interface over a catalogue in a SQLite file, on loopback with TLS."""
