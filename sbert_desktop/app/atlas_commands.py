"""The commands of the Clusters and Map pages; :class:`sbert_desktop.app.facade.App` inherits them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.domain import JobContext, JobId, Query

if TYPE_CHECKING:
    from sbert_desktop.app.atlas_views import (
        ClusterRequest,
        ColourBy,
        ColourView,
        MapRequest,
        MapView,
        ThemeChange,
    )
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import Jobs


class AtlasCommands:
    """Themes and the map. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs

    def clusters(
        self, request: ClusterRequest | None = None, *, again: bool = False, contents: Sequence[int] = ()
    ) -> JobId:
        """Gives the themes."""
        chosen = tuple(contents)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.clustering import run_clusters

            return run_clusters(self._session, context, request, again=again, contents=chosen)

        return self._jobs.submit("themes", "clusters", work, key="clusters")

    def theme_documents(self, theme: int, *, scope: Sequence[int] = ()) -> JobId:
        """Lists the documents of a theme."""
        chosen = tuple(scope)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.clustering import theme_documents

            return theme_documents(self._session, theme, scope=chosen)

        return self._jobs.submit("viewer", "theme-documents", work, key="theme-documents")

    def split_preview(self, theme: int) -> JobId:
        """Tells what splitting a theme would make."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.clustering import run_split_preview

            return run_split_preview(self._session, theme, context)

        return self._jobs.submit("study", "split-preview", work, key="split-preview")

    def change_clusters(self, change: ThemeChange) -> JobId:
        """Changes themes."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.clustering import change_clusters

            return change_clusters(self._session, change, context)

        return self._jobs.submit("themes", "change-clusters", work)

    def document_rows(self, contents: Sequence[int]) -> JobId:
        """Gives what lists show of documents."""
        chosen = tuple(contents)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.clustering import document_rows

            return document_rows(self._session, chosen)

        return self._jobs.submit("viewer", "document-rows", work, key="document-rows")

    def export_clusters(self, target: Path) -> JobId:
        """Writes the themes."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.theme_report import export_clusters

            return export_clusters(self._session, target)

        return self._jobs.submit("helper", "export", work)

    def collect_documents(self, name: str, contents: Sequence[int], *, note: str = "") -> JobId:
        """Puts whole documents into a collection."""
        chosen = tuple(contents)

        def work(context: JobContext) -> object:
            from sbert_desktop.app import collecting

            collecting.collect_documents(self._session, name, chosen, note=note)
            return collecting.collections(self._session)

        return self._jobs.submit("errand", "collections", work)

    def map(self, request: MapRequest) -> JobId:
        """Gives the map."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.mapping import run_map

            return run_map(self._session, request, context)

        if request.stored:
            return self._jobs.submit("viewer", "map-stored", work, key="map-stored")
        return self._jobs.submit("map", "map", work, key="map")

    def map_colours(self, view: MapView, by: ColourBy, *, query: Query | None = None) -> JobId:
        """Gives what each point's colour says."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.colouring import run_colours

            return run_colours(self._session, view, by, query=query)

        return self._jobs.submit("study", "map-colours", work, key="map-colours")

    def map_card(self, view: MapView, point: int) -> JobId:
        """Gives what stands on the card beside a point."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.mapping import map_card

            return map_card(self._session, view, point)

        return self._jobs.submit("viewer", "map-card", work, key="map-card")

    def export_map(self, view: MapView, colours: ColourView, target: Path, *, palette: Sequence[str] = ()) -> JobId:
        """Writes the map."""
        chosen = tuple(palette)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.map_report import export_map

            return export_map(self._session, view, colours, target, palette=chosen)

        return self._jobs.submit("helper", "export", work)
