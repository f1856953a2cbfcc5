"""Pages that are one file each: they fetch nothing, and can be mailed and printed."""

from __future__ import annotations

from html import escape
from importlib.resources import files


def document(title: str, body: str, head: str = "") -> str:
    """The HTML of a page; ``head`` is what it has in its head besides, as HTML."""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # nothing is fetched from anywhere
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return (
        f"<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n{head}\n"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<link rel='icon' href='data:,'>\n"
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
