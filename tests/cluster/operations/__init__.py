"""Tests of what every command leaves, and of the page that names them, which share one site."""
