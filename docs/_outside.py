"""Pages link to files outside docs/, which GitHub finds. This makes the same links work on the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

#: The gallery begins with these, in this order; others follow by name.
FIRST_EXAMPLES = (
    "quick_start",
    "returning_concepts",
    "pipeline_and_search",
    "river_delayed_labels",
    "combining_forecasts",
    "watching_a_stream",
    "asking_one_model",
    "returning_experts",
    "own_algorithm",
    "contextual_lower_bound",
)

#: A line that is nothing but a link to a Markdown file outside: the site shows the file in its place.
_FILE = re.compile(r"^\[[^]]*\]\(\.\./([\w/]+\.md)\)$", flags=re.MULTILINE)
_TABLE = re.compile(r"\]\(\.\./benchmarks/results/(\w+)\.md\)")
_EXAMPLE = re.compile(r"\]\(\.\./examples/(\w+)\.py\)")


def bring_inside(app: Any, docname: str, source: list[str]) -> None:
    """Files that stand alone are shown; other links to tables and examples go to where the site shows those."""
    if Path(app.env.doc2path(docname)).suffix != ".md":
        return
    text = _FILE.sub(lambda match: _contents(app, match[1]), source[0])
    text = _TABLE.sub(r"](benchmarks.md#\1)", text)
    source[0] = _EXAMPLE.sub(r"](auto_examples/\1.rst)", text)


def _contents(app: Any, name: str) -> str:
    path = ROOT / name
    app.env.note_dependency(str(path))
    text = path.read_text().replace("](docs/", "](")
    if "results" not in path.parts:
        return text
    return f"({path.stem})=\n\nSaved as `{name}`:\n\n{text}"


def order_of_examples(name: str) -> tuple[int, str]:
    """A key to sort the gallery by."""
    stem = Path(name).stem
    return (FIRST_EXAMPLES.index(stem) if stem in FIRST_EXAMPLES else len(FIRST_EXAMPLES), stem)
