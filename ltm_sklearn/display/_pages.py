"""HTML pages from jinja2 templates; each page is one file that fetches nothing."""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from typing import Any

from .._optional import import_extra


def render_page(package: str, template: str, **values: Any) -> str:
    """Render a template as an HTML page.

    Parameters
    ----------
    package : str
        The package in whose folder the template lies. It may extend ``page.html.jinja``, which lies in this package.
    template : str
        The file name of the template.
    **values
        The variables of the template.
    """
    jinja2 = import_extra("jinja2", "HTML pages", "cli")
    folders = [files(package), files(__package__)]

    def source(name: str) -> str | None:
        # Not jinja2.PackageLoader: it does not find the files of an editable install.
        paths = (folder / name for folder in folders)
        return next((path.read_text(encoding="utf-8") for path in paths if path.is_file()), None)

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return str(environment.get_template(template).render(values)) + "\n"


def data_url(png: bytes) -> str:
    """Return a PNG picture as the value of an ``src`` attribute."""
    return f"data:image/png;base64,{b64encode(png).decode('ascii')}"
