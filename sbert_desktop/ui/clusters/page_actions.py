"""The commands of the Clusters page, for the palette and the list of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint

from sbert_desktop.ui.clusters.words import METHODS, label_of
from sbert_desktop.ui.naming import in_title
from sbert_desktop.ui.page import Action

if TYPE_CHECKING:
    from sbert_desktop.ui.clusters.page import ClustersPage


def page_actions(page: ClustersPage) -> list[Action]:
    """Gives the commands of the page, and those of the cluster in front."""
    shown = page.theme_shown()
    note = in_title(label_of(shown)) if shown is not None else ""

    def there() -> bool:
        return page.finder.view is not None

    def edit() -> bool:
        return page.theme_shown() is not None and page.may_edit()

    def spot() -> QPoint:
        button = page.detail.head.merge
        return button.mapToGlobal(button.rect().bottomLeft())

    def unsorted() -> bool:
        view = page.finder.view
        return view is not None and view.unsorted > 0

    out = [
        Action("clusters_again", "Find clusters anew", page.look_again, "Ctrl+R", "refresh", bind=False,
               enabled=lambda: there() and not page.finder.busy()),
        Action("clusters_filter", "Filter clusters", lambda: page.column.show_filter(True), "Ctrl+F", "filter",
               enabled=there, bind=False),
        Action("clusters_how_many", "How many clusters?...", page.ask_how_many, "", "sliders", enabled=there),
        *(Action(f"clusters_method_{method.value}", f"Find clusters by: {text.lower()}",
                 partial(page.set_method, method), "", "clusters", enabled=there)
          for method, text, _ in METHODS),
        Action("clusters_export", "Export the clusters...", page.export, "Ctrl+S", "export", bind=False,
               enabled=lambda: there() and not page.finder.scope),
        Action("clusters_unsorted", "Show unsorted documents", page.show_unsorted, "", "eye", enabled=unsorted),
        Action("clusters_assign", "Assign all unsorted to their nearest cluster", lambda: page.assign(()), "", "check",
               enabled=lambda: unsorted() and page.may_edit()),
        Action("clusters_undo", "Undo a change of the clusters", page.undo, "Ctrl+Z", "undo", bind=False,
               enabled=lambda: page.finder.view is not None and bool(page.finder.view.undo)),
        Action("clusters_redo", "Redo a change of the clusters", page.redo, "Ctrl+Shift+Z", "refresh", bind=False,
               enabled=lambda: page.finder.view is not None and bool(page.finder.view.redo)),
        Action("clusters_rename", "Rename the cluster", page.start_rename, "F2", "pencil", note, edit, bind=False),
        Action("clusters_merge", "Merge the cluster...", lambda: page.show_merge_menu(spot()), "M", "merge", note,
               edit, bind=False),
        Action("clusters_split", "Split the cluster", page.split, "S", "split", note, edit, bind=False),
        Action("clusters_pin", "Pin or unpin the cluster", page.pin, "P", "pin", note, edit, bind=False),
        Action("clusters_documents", "Show all documents of the cluster", page.show_documents, "", "file", note,
               lambda: page.theme_shown() is not None),
    ]
    for key, button in page.detail.centre.deeds.items():
        out.append(Action(f"clusters_do_{key}", f"{button.label()} (cluster)", partial(page.do_with_all, key),
                          "", "clusters", note, lambda: page.theme_shown() is not None))
    return out
