"""The live view in a file: a picture, or a page that loads itself anew and needs no network."""

from __future__ import annotations

import io
import os
from base64 import b64encode
from datetime import datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ._live import LiveDisplay, headlines

DPI = 110


def write(display: LiveDisplay, out: str, refresh: float) -> None:
    """Put a new file in the place of the one before."""
    path = Path(out)
    kind = path.suffix.lower().removeprefix(".")
    formats = display.figure_.canvas.get_supported_filetypes()
    if kind not in (*formats, "html"):
        raise ValueError(
            f"{out} is neither a page nor a picture: it should end in .html, .{', .'.join(sorted(formats))}"
        )
    content = _page(display, refresh).encode() if kind == "html" else _picture(display.figure_, kind)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _picture(figure: Any, kind: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=DPI)
    return buffer.getvalue()


def _page(display: LiveDisplay, refresh: float) -> str:
    log, every = display.log_, max(round(refresh), 1)
    style = files("ltm_sklearn._commands").joinpath("page.css").read_text(encoding="utf-8")
    title = escape(os.path.basename(log.path))
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # nothing is fetched from anywhere
    words = escape(" · ".join(headlines(log, log.moments[-1])))
    source = f"data:image/png;base64,{b64encode(_picture(display.figure_, 'png')).decode('ascii')}"
    return (
        "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        f"<meta http-equiv='refresh' content='{every}'>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<link rel='icon' href='data:,'>\n"
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<main><figure><div class='scroll'><img alt='{words}' src='{source}'></div></figure></main>\n"
        f"<footer>Written {datetime.now():%Y-%m-%d %H:%M:%S}; loads itself anew every {every} s.</footer>\n"
        "</body>\n</html>\n"
    )
