"""The live view in a file: a picture, or a page that loads itself anew and needs no network."""

from __future__ import annotations

import io
import os
from base64 import b64encode
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from ._html import document
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
    words = escape(" · ".join(headlines(log, log.moments[-1])))
    source = f"data:image/png;base64,{b64encode(_picture(display.figure_, 'png')).decode('ascii')}"
    body = (
        f"<main><figure><div class='scroll'><img alt='{words}' src='{source}'></div></figure></main>\n"
        f"<footer>Written {datetime.now():%Y-%m-%d %H:%M:%S}; loads itself anew every {every} s.</footer>"
    )
    return document(os.path.basename(log.path), body, f"<meta http-equiv='refresh' content='{every}'>")
