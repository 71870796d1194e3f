"""The offline plugins under the real engine, against a real API server without nodes."""
