"""What pages of reports are made of: one file that needs nothing else, on screens of all widths and in print."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .._version import __version__
from ..display import document
from ._folder import GENERATOR
from ._picture import Picture


def whole(title: str, lead: str, parts: Iterable[str]) -> str:
    """The HTML: a title, what stands below it, and the parts in their order; empty ones are left out."""
    inner = [
        f"<header><h1>{said(title)}</h1>{lead}</header><main>",
        *(part for part in parts if part),
        f"</main><footer>Made by ltm_sklearn {__version__}.</footer>",
    ]
    return document(title, "\n".join(inner), f'{GENERATOR} {__version__}">')


def end(facts: Mapping[str, str], tables: Mapping[str, str], pictures: Sequence[Picture]) -> str:
    """What was run, and the files beside the page: tables with what they hold, and the pictures."""
    return (
        f"<h2>What was run</h2>{_facts_table(facts)}<h2>Files beside this page</h2><ul>{_files(tables, pictures)}</ul>"
    )


def said(words: Any) -> str:
    """Words, none of which is taken for markup."""
    return escape(str(words))


def column(values: Iterable[float]) -> list[str]:
    """Numbers below one another: the same places behind the point, so that the smallest has four digits."""
    numbers = list(values)
    sizes = [abs(value) for value in numbers if math.isfinite(value) and value]
    places = min(max(3 - math.floor(math.log10(min(sizes))), 0), 8) if sizes else 0
    return [f"{value:,.{places}f}" if math.isfinite(value) else "" for value in numbers]


def shown_cards(cards: Iterable[tuple[str, str, str]]) -> str:
    """Boxes with a name, a number and a few words each."""
    inner = "".join(f"<div><dt>{said(a)}</dt><dd>{said(b)}</dd><dd>{said(c)}</dd></div>" for a, b, c in cards)
    return f"<dl class='cards'>{inner}</dl>"


def table(
    label: str,
    head: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str]]],
    caption: str,
    kinds: Mapping[int, str] | None = None,
) -> str:
    """Rows of a class and cells, of which the first is the row's header; ``kinds`` are classes of columns by place."""
    classes = {at: f" class='{kind}'" for at, kind in (kinds or {}).items()}
    cells = "".join(f"<th scope='col'{classes.get(at, '')}>{said(name)}</th>" for at, name in enumerate(head))
    body = []
    for kind, (first, *others) in rows:
        inner = "".join(f"<td{classes.get(at, '')}>{said(cell)}</td>" for at, cell in enumerate(others, start=1))
        body.append(f"<tr{f' class={kind!r}' if kind else ''}><th scope='row'>{said(first)}</th>{inner}</tr>")
    return (
        f"<div class='scroll tall' tabindex='0' role='region' aria-label='{said(label)}'><table class='names'>"
        f"<caption>{said(caption)}</caption><thead><tr>{cells}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _facts_table(facts: Mapping[str, str]) -> str:
    tags = {"Command": "code"}
    rows = "".join(
        f"<tr><th scope='row'>{said(name)}</th><td><{(tag := tags.get(name, 'span'))}>{said(fact)}</{tag}></td></tr>"
        for name, fact in facts.items()
    )
    return f"<div class='scroll'><table class='facts'><tbody>{rows}</tbody></table></div>"


def figure(picture: Picture) -> str:
    """A picture with its title and words."""
    label = said(picture.title)
    source = f"data:image/png;base64,{b64encode(picture.png).decode('ascii')}"
    return (
        f"<h2>{label}</h2><figure><div class='scroll' tabindex='0' role='region' aria-label='{label}'>"
        f"<img alt='{said(picture.alt)}' width='{picture.width}' height='{picture.height}' src='{source}'></div>"
        f"<figcaption>{said(picture.caption)}</figcaption></figure>"
    )


def _files(tables: Mapping[str, str], pictures: Sequence[Picture]) -> str:
    lines = [f"{_link(name)}: {said(words)}" for name, words in tables.items()]
    lines.append(f"the pictures: {', '.join(_link(f'{picture.name}.png') for picture in pictures)}")
    return "".join(f"<li>{line}</li>" for line in lines)


def _link(name: str) -> str:
    return f"<a href='{said(name)}'>{said(name)}</a>"
