"""The command line: demo, evaluate, mixture and watch, one module for each command."""
