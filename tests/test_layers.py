"""Imports point downwards, as CONTRIBUTING.md draws it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "ltm_sklearn"

#: From the bottom. "engine" are memory.py and the private modules beside the packages.
LAYERS = [
    {"experts"},
    {"bandits", "losses"},
    {"engine"},
    {"persistence"},
    {"streams"},
    {"evaluation"},
    {"ensemble"},
    {"river", "sktime", "display", "distributed"},
    {"_commands"},
]
PACKAGES = set().union(*LAYERS) - {"engine"}
FILES = sorted(
    path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.name not in ("__init__.py", "__main__.py")
)


def layer_of(module):
    """Of a dotted path inside the package."""
    name = module[0] if module[0] in PACKAGES else "engine"
    return next(at for at, names in enumerate(LAYERS) if name in names), name


def imports_of(path):
    """The modules of this package that a file imports, as paths inside it."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            parts = tuple(filter(None, base))
            yield from [parts] if parts else [(alias.name,) for alias in node.names]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path):
    here, name = layer_of(path.relative_to(ROOT).with_suffix("").parts)
    for module in imports_of(path):
        there, other = layer_of(module)
        assert there < here or other == name, f"{'.'.join(module)} is above, or beside, {name}"


def test_the_algorithms_know_no_models_and_no_data():
    for path in (ROOT / "experts").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert node.module.split(".")[0] not in ("river", "pandas", "matplotlib", "sktime"), path.name
                assert not node.module.startswith("sklearn") or node.module == "sklearn.base", path.name
