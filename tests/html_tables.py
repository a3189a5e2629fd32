"""Reads back the HTML tables of the app."""

from __future__ import annotations

import re


def cells(table: str) -> list[list[str]]:
    """Return the text of a table's body, row by row."""
    body = table.partition("<tbody")[2]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    texts = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]+>", " ", cell).strip() for cell in row] for row in texts]
