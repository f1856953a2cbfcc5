"""Command line: demo, evaluate, mixture, watch."""

# for __main__.py and the script ltm-sklearn; the commands are the interface of this package
from ._main import main as main
