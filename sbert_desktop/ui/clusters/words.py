"""How the Clusters page calls clusters, methods and what was done with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ClustersView,
    DocumentRow,
    Method,
    ThemeChange,
    ThemeDeed,
    ThemeView,
)
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.naming import file_words, in_title, quick_path

FEW: Final = 30
"""Below so many documents clusters say little: it is said."""
METHODS: Final = (
    (Method.AUTO, "Automatic", "Takes the method that measured best: groups of near neighbours"),
    (Method.COMMUNITIES, "Communities", "Groups of documents that are each other's near neighbours"),
    (Method.KMEANS, "k-means", "A fixed number of round groups; the number can be chosen"),
    (Method.HDBSCAN, "HDBSCAN", "Dense groups; what lies between them stays unsorted"),
    (Method.THRESHOLD, "Similar enough", "Documents that reach a fixed similarity to a middle one"),
)
"""The methods as the menu names them, with what each does."""
ORDERS: Final = (("size", "Largest first"), ("name", "By name"), ("newest", "Newest first"),
                 ("alike", "Most alike first"))
DOCUMENT_ORDERS: Final = (("fit", "Most typical first"), ("unsure", "Least sure first"), ("title", "By title"),
                          ("newest", "Newest first"), ("folder", "By folder"))
UNSORTED_ORDERS: Final = (("sure", "Surest first"), ("nearest", "By nearest cluster"), ("title", "By title"),
                          ("newest", "Newest first"), ("folder", "By folder"))
MAIL: Final = frozenset({"eml", "msg", "emlx", "mbox", "mail"})
_DEEDS: Final = {
    "rename": "Rename", "merge": "Merge", "split": "Split", "move": "Move", "pin": "Pin", "unpin": "Unpin",
    "assign": "Assign to nearest", "strictness": "Strictness",
}


def documents(number: int) -> str:
    """Gives ``634 documents``."""
    return words.counted(number, "document")


def clusters(number: int) -> str:
    """Gives ``9 clusters``."""
    return words.counted(number, "cluster")


def label_of(theme: ThemeView) -> str:
    """Gives a label as harmless text; never empty."""
    return quick_path(" ".join(theme.label.split())) or "Untitled"


def keywords_of(theme: ThemeView, most: int = 10) -> str:
    """Gives the keywords on one line."""
    return ", ".join(quick_path(word.text) for word in theme.keywords[:most])


def percent(share: float) -> str:
    """Gives a share as ``42 %``; what is not nothing is never called 0 %."""
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{share:.0%}".replace("%", " %")


def years(theme: ThemeView) -> str:
    """Gives ``2016 to 2024``, ``2024``, or "" without dates."""
    if theme.first is None or theme.last is None:
        return ""
    try:
        first, last = time.localtime(theme.first).tm_year, time.localtime(theme.last).tm_year
    except (OverflowError, ValueError, OSError):
        return ""
    return str(first) if first == last else f"{first} to {last}"


def closeness(theme: ThemeView) -> str:
    """Gives in words how its documents belong together."""
    apart = theme.similarity - theme.rest
    if theme.similarity >= 0.995:
        return "All but the same"
    if apart >= 0.2:
        return "Close to each other"
    return "Fairly close to each other" if apart >= 0.1 else "Loosely connected"


def facts(theme: ThemeView, *, alone: bool = False) -> str:
    """Gives the sentence under a cluster's title; ``alone``: there is no other cluster to compare with."""
    where = f" in {words.counted(len(theme.folders), 'folder')}" if theme.folders else ""
    when = years(theme)
    text = f"{documents(theme.size)}{where}{', ' + when if when else ''}."
    if theme.size > 1:
        rest = "" if alone else f", and {theme.rest:.2f} to the rest"
        text += f" {closeness(theme)}: typical similarity {theme.similarity:.2f}{rest}."
    if theme.pinned:
        text += " Pinned: it stays as it is when clusters are found anew."
    return text


def card_tip(theme: ThemeView) -> str:
    """Gives the tooltip of a card: what is elided, a typical document, and the folders of its bar."""
    lines = [label_of(theme), documents(theme.size)]
    if theme.keywords:
        lines.append(keywords_of(theme))
    if theme.central_title:
        lines.append(f"Typical: {quick_path(theme.central_title)}")
    lines += [f"{short_path(folder)}: {words.count(number)}" for folder, number in theme.folders[:6]]
    if theme.pinned:
        lines.append("Pinned")
    return "\n".join(lines)


def card_said(theme: ThemeView) -> str:
    """Gives a card as a screen reader says it."""
    folders = ", ".join(f"{short_path(folder)} {words.count(number)}" for folder, number in theme.folders[:3])
    parts = [label_of(theme), documents(theme.size), keywords_of(theme, 5), folders, "pinned" if theme.pinned else ""]
    return ". ".join(part for part in parts if part)


def shown_themes(themes: Sequence[ThemeView]) -> tuple[ThemeView, ...]:
    """Gives the clusters that are shown: one whose documents are all unsorted only where the person made it."""
    return tuple(one for one in themes if one.size or one.named or one.pinned)


def counts(view: ClustersView) -> str:
    """Gives the line at the foot of the list."""
    text = clusters(len(shown_themes(view.themes)))
    if view.unsorted:
        return f"{text}, {words.count(view.unsorted)} of {documents(view.documents)} unsorted"
    return f"{text}, all {documents(view.documents)} sorted" if view.documents else text


def would_be(view: ClustersView, step: int) -> str:
    """Gives what a step of the strictness (0-20) would leave unsorted."""
    if not 0 <= step < len(view.unsorted_at):
        return ""
    share = view.unsorted_at[step]
    return f"{percent(share)} unsorted ({words.count(round(share * view.documents))})" if share else "All sorted"


def title_of(row: DocumentRow) -> str:
    """Gives what names a document: a mail's subject, what lies in a container, else the file's name."""
    if row.format in MAIL and row.title:
        return quick_path(" ".join(row.title.split()))
    return file_words(row.path, row.member) or quick_path(row.title)


def place_of(row: DocumentRow) -> str:
    """Gives where it lies: the folder of a file, the container of what lies in one."""
    return short_path(row.path if row.member else row.path.parent)


def row_tip(row: DocumentRow) -> str:
    """Gives the tooltip of a document's row."""
    lines = [title_of(row), short_path(row.path) + (f" / {quick_path(row.member)}" if row.member else "")]
    if row.date is not None:
        lines.append(words.day(row.date))
    if row.copies > 1:
        lines.append(f"Lies in {words.count(row.copies)} places")
    lines.append(f"Fit {row.fit:.2f}: how like the cluster as a whole it is")
    near = f"{percent(row.confidence)} of what is near it is in its cluster"
    lines.append("Put here by you" if row.by_hand else near)
    return "\n".join(line for line in lines if line)


def these(label: str, number: int) -> str:
    """Gives what is handed to another page: ``634 documents of “Soil research”``."""
    return f"{documents(number)} of “{in_title(label, 40)}”"


def deed_words(change: ThemeChange, before: ClustersView | None, after: ClustersView) -> str:
    """Gives what was done, for a message."""
    def called(theme: int, view: ClustersView | None) -> str:
        found = view.theme(theme) if view is not None else None
        return f"“{in_title(label_of(found), 40)}”" if found is not None else "a cluster"

    first = change.themes[0] if change.themes else UNSORTED
    moved = documents(len(change.contents))
    match change.deed:
        case ThemeDeed.RENAME:
            return f"Renamed {called(first, before)} to {called(first, after)}"
        case ThemeDeed.MERGE:
            return f"Merged {words.listed([called(one, before) for one in change.themes])}"
        case ThemeDeed.SPLIT:
            return f"Split {called(first, before)}"
        case ThemeDeed.MOVE:
            return f"Took {moved} out" if first == UNSORTED else f"Moved {moved} to {called(first, after)}"
        case ThemeDeed.PIN:
            return f"Pinned {called(first, before)}"
        case ThemeDeed.UNPIN:
            return f"Unpinned {called(first, before)}"
        case ThemeDeed.ASSIGN:
            number = len(change.contents) or (before.unsorted if before is not None else 0)
            return f"Assigned {documents(number)} to the nearest cluster"
        case ThemeDeed.STRICTNESS:
            return f"{documents(after.unsorted)} unsorted now"
    return ""


def undo_words(deed: str) -> str:
    """Gives what would be taken back, as a menu says it."""
    return _DEEDS.get(deed, deed[:1].upper() + deed[1:])


def named(rows: Sequence[DocumentRow]) -> str:
    """Gives one document by its title, several by their number."""
    return in_title(title_of(rows[0]), 40) if len(rows) == 1 else documents(len(rows))
