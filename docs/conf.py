"""The documentation site: ``sphinx-build -W --keep-going -b html docs docs/_build/html``, without a network."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import _outside  # noqa: E402
import _pictures  # noqa: E402

project = "ltm_sklearn"
author = "the ltm_sklearn developers"
copyright = author
version = release = version_of("ltm_sklearn")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "auto_examples/*.ipynb", "auto_examples/*.py"]
templates_path = ["_templates"]
default_role = "code"  # River's way of writing docstrings
nitpicky = True
# What scikit-learn, River and sktime call their own base classes is not on this site.
nitpick_ignore_regex = [("py:.*", r"(sklearn|river|sktime|numpy|pandas|matplotlib)\..*")]

# Formulas are plain text with Unicode letters, so that nothing need be fetched to show them.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template lists them
python_use_unqualified_type_names = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",  # all of them run, whatever they are called
    "within_subsection_order": "_outside.order_of_examples",
    "doc_module": ("ltm_sklearn",),
    "reference_url": {"ltm_sklearn": None},
    "backreferences_dir": "api/backreferences",
    "download_all_examples": False,
    "write_computation_times": False,  # of one machine; and the page would fetch styles from elsewhere
    "capture_repr": (),  # what a cell prints is enough
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "ltm_sklearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# Pages without pages below them, and the long list of the reference, which its first page shows in groups.
html_sidebars = {page: [] for page in ("getting_started", "benchmarks", "changelog", "api", "api/**")}


def leave_out_what_is_not_ours(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Members that classes inherit from scikit-learn, River and sktime are documented there."""
    function = getattr(obj, "fget", obj)
    module = getattr(function, "__module__", None) or ""
    is_request = name.startswith("set_") and name.endswith("_request")
    return True if is_request or not module.startswith("ltm_sklearn") else None


def setup(app: Any) -> None:
    app.connect("builder-inited", lambda app: _pictures.draw_all(HERE / "pictures"))
    app.connect("source-read", _outside.bring_inside)
    app.connect("autodoc-skip-member", leave_out_what_is_not_ours)
