"""The documentation: code runs, links lead somewhere, and every public name and test that it names exists."""

import importlib
import logging
import pkgutil
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import ltm_sklearn

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def prose(page):
    """Return a page's text without its code."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Return the anchors that GitHub and the site give to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def code_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


def links(page):
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [link for link in found if not link.startswith(("http://", "https://"))]


def drawn_pictures():
    sys.path.insert(0, str(DOCS))
    try:
        return {f"pictures/{name}.png" for name in importlib.import_module("_pictures").PICTURES}
    finally:
        sys.path.remove(str(DOCS))


def public_modules():
    found = pkgutil.walk_packages(ltm_sklearn.__path__, "ltm_sklearn.")
    names = [module.name for module in found if "._" not in module.name and module.name != "ltm_sklearn.__main__"]
    modules = [importlib.import_module(name) for name in ["ltm_sklearn", *names]]
    return [module for module in modules if hasattr(module, "__all__")]


@pytest.fixture
def separate_output(monkeypatch):
    """No windows, no figures left open, and the logging of the next test unchanged."""
    plt.switch_backend("Agg")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    yield
    plt.close("all")
    logging.getLogger("ltm_sklearn").setLevel(logging.NOTSET)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("page", [page for page in PAGES if code_blocks(page)], ids=lambda page: page.name)
@pytest.mark.usefixtures("separate_output")
def test_code_in_the_documentation_runs(page, capsys):
    names = {}
    for block in code_blocks(page):
        exec(compile(block, page.name, "exec"), names)
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    pictures = drawn_pictures()
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        is_there = target.exists() or (page.parent == DOCS and path in pictures)
        if not is_there or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


def test_every_page_is_in_a_table_of_contents():
    listed = "".join(page.read_text() for page in DOCS.glob("*.rst"))
    pages = {page.stem for page in [*DOCS.glob("*.md"), *DOCS.glob("*.rst")]} - {"index"}
    assert pages - set(re.findall(r"^   (\w+)$", listed, flags=re.MULTILINE)) == set()


def test_every_saved_table_is_on_the_benchmarks_page():
    saved = {path.name for path in (ROOT / "benchmarks" / "results").glob("*.md")}
    text = (DOCS / "benchmarks.md").read_text()
    shown = re.findall(r"^\[(\w+\.md)\]\(\.\./benchmarks/results/\1\)$", text, flags=re.MULTILINE)
    assert saved == set(shown)
    assert len(shown) == len(set(shown))


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module):
    parts = re.split(r"^\.\. module:: (\S+)$", (DOCS / "api.rst").read_text(), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(module.__all__) <= set(re.findall(r"\w+", sections[module.__name__]))


def paper_map():
    rows = [line for line in (DOCS / "paper_map.md").read_text().splitlines() if line.startswith("|")]
    return [cell for row in rows for cell in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("name", sorted(set(paper_map())))
def test_names_in_the_map_of_the_paper_exist(name):
    if ".py" in name:
        path, _, test = name.partition("::")
        file = ROOT / path if path.startswith("examples/") else next((ROOT / "tests").rglob(path))
        text = file.read_text()
        assert not test or f"def {test}(" in text
        return
    path, called, options = name.partition("(")
    module, _, attribute = path.rpartition(".")
    made = getattr(importlib.import_module(f"ltm_sklearn.{module}"), attribute)
    assert callable(made)
    if called:  # the algorithm begins with this option
        algorithm = eval(f"made({options}", {"made": made})
        assert algorithm.draw(3) in range(3) if hasattr(algorithm, "draw") else len(algorithm.weights(3)) == 3
