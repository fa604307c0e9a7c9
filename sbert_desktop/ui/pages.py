"""The pages that the window has, by name: none of them is imported before it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page of the window: its words for the rail, and the class that is imported when needed.

    ``needs``: a command without which the page is left out.
    """

    key: str
    title: str
    icon: str
    module: str
    class_name: str
    foot: bool = False
    needs: str = ""


PAGES: Final = (
    PageSpec("search", "Search", "search", "sbert_desktop.ui.search_entry", "SearchEntry"),
    PageSpec("duplicates", "Duplicates", "duplicates", "sbert_desktop.ui.duplicates.page", "DuplicatesPage",
             needs="duplicates"),
    PageSpec("clusters", "Clusters", "clusters", "sbert_desktop.ui.clusters.page", "ClustersPage", needs="clusters"),
    PageSpec("map", "Map", "map", "sbert_desktop.ui.map.page", "MapPage", needs="map"),
    PageSpec("train", "Train", "train", "sbert_desktop.ui.train.page", "TrainPage", needs="pairs"),
    PageSpec("models", "Models", "models", "sbert_desktop.ui.models.page", "ModelsPage"),
    PageSpec("library", "Library", "library", "sbert_desktop.ui.library.page", "LibraryPage"),
    PageSpec("settings", "Settings", "settings", "sbert_desktop.ui.settings_page", "SettingsPage", foot=True),
    PageSpec("collections", "Collections", "collection", "sbert_desktop.ui.collections.page", "CollectionsPage",
             needs="collections"),
)
