"""Reads back the HTML tables of the app."""

from __future__ import annotations

import re


def cells(table: str) -> list[list[str]]:
    """Return the text of a table's body, row by row, without the rows that open below others."""
    body = table.partition("<tbody")[2]
    # Such a row may hold a table of its own; a list of facts ends it.
    body = re.sub(r'<tr[^>]*class="tt-more">.*?</dl></td></tr>', "", body, flags=re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    texts = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]+>", " ", cell).strip() for cell in row] for row in texts]
