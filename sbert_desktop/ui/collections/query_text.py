"""A search as one line of text: what is kept by name must say all of it, the chosen filters too."""

from __future__ import annotations

import time

from sbert_desktop.app.asking_query import with_field
from sbert_desktop.domain import Filters, Query


def query_text(query: Query) -> str:
    """Gives the words typed with the chosen filters as fields behind them."""
    chosen = fields(query.filters)
    text = _closed(query.text.strip()) if chosen else query.text.strip()
    return " ".join(part for part in (text, *chosen) if part)


def _closed(text: str) -> str:
    """Closes a quotation that was left open: fields behind it would belong to it."""
    end = "name:qzqz"
    return with_field(text, "name", "qzqz").removesuffix(end).rstrip()


def fields(filters: Filters) -> list[str]:
    """Gives filters as the fields that a person could have typed."""
    out: list[str] = []
    if filters.folder is not None:
        out.append(f"folder:{quoted(str(filters.folder))}")
    for field, values in (("folder", filters.folders), ("type", filters.types), ("name", filters.names),
                          ("lang", filters.languages), ("from", filters.senders), ("to", filters.recipients),
                          ("subject", filters.subjects), ("in", filters.collections)):
        out += [f"{field}:{quoted(value)}" for value in values]
    if filters.after is not None:
        out.append(f"after:{day(filters.after)}")
    if filters.before is not None:
        out.append(f"before:{day(filters.before)}")
    if filters.attachments is not None:
        out.append("has:attachment" if filters.attachments else "-has:attachment")
    if filters.size_from is not None:
        out.append(f"size:>{filters.size_from}")
    if filters.size_to is not None:
        out.append(f"size:<{filters.size_to}")
    for without in filters.without:
        out += [f"-{part}" for part in fields(without)]
    return out


def quoted(value: str) -> str:
    """Gives a field's value so that blanks, commas and quotation marks stay in it."""
    return with_field("", "name", value).removeprefix("name:") or '""'


def day(when: float) -> str:
    """Gives a moment as a date."""
    return time.strftime("%Y-%m-%d", time.localtime(when))
