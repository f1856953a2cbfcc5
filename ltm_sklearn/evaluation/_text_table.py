"""Tables of text for printed results."""

from __future__ import annotations


def format_table(lines: list[list[str]], first: str = ">") -> str:
    """Align the cells of lines in columns: to the right, and the first column as ``first`` says, "<" or ">"."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    alignments = [first, *">" * (len(widths) - 1)]
    return "\n".join(
        "  ".join(f"{cell:{align}{width}}" for cell, align, width in zip(line, alignments, widths, strict=True))
        for line in lines
    )
