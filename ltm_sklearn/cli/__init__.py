"""Command line: demo, evaluate, mixture, watch."""
