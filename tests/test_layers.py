"""The package structure: imports point downwards, and only to public names of other packages."""

import ast
import importlib
from pathlib import Path

ROOT = Path(__file__).parent.parent / "ltm_sklearn"

#: From the bottom. Packages of one layer do not import each other.
LAYERS = [
    {"experts"},
    {"bandits", "losses"},
    {"aggregation"},
    {"recording", "streams"},
    {"engine"},
    {"persistence"},
    {"evaluation"},
    {"ensemble", "forecasting"},
    {"river", "sktime", "display", "distributed"},
    {"cli"},
]
PACKAGES = {path.parent.name for path in ROOT.glob("*/__init__.py")}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts != ("__init__.py",))
MOST_PRIVATE_ROOT_MODULES = 8


def layer_of(package):
    return next(height for height, names in enumerate(LAYERS) if package in names)


def package_of(path):
    """Return the package of a file; the empty string for modules at the root."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else ""


def internal_imports(path):
    """Yield the dotted module and the names of each import of this package in a file."""
    parents = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*parents[: len(parents) - node.level + 1], *(node.module or "").split("."))
            yield tuple(filter(None, base)), [alias.name for alias in node.names]


def test_every_package_has_a_layer():
    assert set().union(*LAYERS) == PACKAGES


def test_the_root_has_few_private_modules():
    modules = [path.name for path in ROOT.glob("_*.py") if not path.name.startswith("__")]
    assert len(modules) <= MOST_PRIVATE_ROOT_MODULES, modules


def test_imports_point_downwards_and_to_public_names():
    wrong = []
    for path in FILES:
        here = package_of(path)
        for module, names in internal_imports(path):
            there = module[0] if module and module[0] in PACKAGES else ""
            if there == here or path.name == "__main__.py":
                continue
            shown = f"{path.relative_to(ROOT)} imports {', '.join(names)} from {'.'.join(module)}"
            if there and not here:
                wrong.append(f"{shown}: the root imports no package")
            elif there and layer_of(there) >= layer_of(here):
                wrong.append(f"{shown}, which is not below")
            elif there and any(part.startswith("_") for part in (*module[1:], *names)):
                wrong.append(f"{shown}, which is private")
            elif not module:
                wrong.append(shown)
    assert wrong == []


def test_names_of_modules_in_strings_exist():
    """A string such as ``"ltm_sklearn.experts"`` is not updated when a module moves."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                parts = node.value.split(".")
                if parts[0] == "ltm_sklearn" and all(part.isidentifier() for part in parts):
                    importlib.import_module(node.value)


def test_class_names_are_unique():
    places = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    #: estimators for River and sktime, which have the public names of the scikit-learn ones
    same_on_purpose = {"LongTermMemoryClassifier", "LongTermMemoryRegressor", "LongTermMemoryForecaster"}
    assert {name: at for name, at in places.items() if len(at) > 1 and name not in same_on_purpose} == {}


def test_the_algorithms_know_no_models_and_no_data():
    for path in (ROOT / "experts").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert node.module.split(".")[0] not in ("river", "pandas", "matplotlib", "sktime"), path.name
                assert not node.module.startswith("sklearn") or node.module == "sklearn.base", path.name
