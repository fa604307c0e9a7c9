"""What the window may ask of the program. ``App`` fulfils it; tests give a fake.

Every command returns at once with a job id; the answer arrives as events through the ``post``
callable given to :meth:`Commands.connect` (from a worker thread). The type of
``Finished.result`` stands at each command. Safe from the GUI thread: none of them waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from sbert_desktop.app.atlas_views import (
    ClusterRequest,
    ColourBy,
    ColourView,
    MapRequest,
    MapView,
    ThemeChange,
)
from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView
from sbert_desktop.app.training_views import LabView, PairView, Plan, Task
from sbert_desktop.app.views import HitView, LeftOutView, ProblemView, SearchView
from sbert_desktop.cleanup import Copy, DuplicateQuery, Removal
from sbert_desktop.domain import Event, FolderRules, JobId, Parsed, Query
from sbert_desktop.settings import Settings


class Commands(Protocol):
    """The commands of the window."""

    settings: Settings

    def connect(self, post: Callable[[Event], None]) -> None:
        """Names the one receiver of events."""
        ...

    # library -------------------------------------------------------------
    def refresh(self) -> JobId:
        """Reads the library's state (kind ``refresh``): LibraryView.

        An indexing run also posts ``Partial(job of the run, LibraryView)`` now and then.
        """
        ...

    def estimate(self, folders: Sequence[Path]) -> JobId:
        """Measures what adding the folders takes (kind ``estimate``): Estimate."""
        ...

    def add_folders(self, folders: Sequence[Path], *, words_only: bool = False) -> JobId:
        """Adds and indexes folders (kind ``index``): partials IndexProgress and LibraryView; IndexReport."""
        ...

    def add_sample(self) -> JobId:
        """Adds the sample library that comes with the program (kind ``index``): IndexReport."""
        ...

    def update(self, *, confirm_removals: bool = False) -> JobId:
        """Brings all folders up to date (kind ``index``): IndexReport."""
        ...

    def pause(self) -> None:
        """Pauses the indexing run at the next file or batch."""
        ...

    def resume(self) -> None:
        """Goes on with it."""
        ...

    def set_pace(self, pace: str) -> None:
        """``gentle``, ``full`` or ``auto``; takes effect at the next batch and is remembered."""
        ...

    def cancel(self, job: JobId) -> None:
        """Asks a job to end; what was committed stays."""
        ...

    def remove_folder(self, folder: Path) -> JobId:
        """Hides a folder at once (kind ``remove``): LibraryView. Erased by ``finish_removals``."""
        ...

    def undo_remove(self, folder: Path) -> JobId:
        """Brings a folder back that was hidden and not yet erased (kind ``remove``): LibraryView."""
        ...

    def finish_removals(self) -> JobId:
        """Erases hidden folders for good (kind ``remove``): LibraryView. Also done at close and start."""
        ...

    def problems(self) -> JobId:
        """Lists problems, ignored ones too (kind ``problems``): tuple[ProblemView, ...]."""
        ...

    def left_out(self) -> JobId:
        """Walks the folders and lists what rules leave out (kind ``left-out``): LeftOut."""
        ...

    def check(self, paths: Sequence[Path]) -> JobId:
        """Looks for changes below these folders or files only (kind ``index``): IndexReport."""
        ...

    def retry(self, paths: Sequence[Path]) -> JobId:
        """Reads these files again though they look unchanged, with all that they hold (kind ``index``): IndexReport."""
        ...

    def ignore(self, paths: Sequence[Path], *, ignored: bool = True, members: Sequence[tuple[Path, str]] = ()) -> JobId:
        """Takes problems off the list, or puts them back (kind ``problems``): tuple[ProblemView, ...].

        ``paths`` are meant with all that they hold; of a pair in ``members`` only that member is meant.
        """
        ...

    def recognise(self, paths: Sequence[Path], *, members: Sequence[tuple[Path, str]] = ()) -> JobId:
        """Reads scans and pictures by text recognition now (kind ``index``): IndexReport.

        ``paths`` are meant with all that they hold; of a pair in ``members`` only that member is meant.
        """
        ...

    def unlock(self, path: Path, password: str, *, keep: bool, member: str = "") -> JobId:
        """Opens a protected file (kind ``unlock``): UnlockView. The text is stored if ``keep``, the password never."""
        ...

    def caption(self, path: Path, member: str = "") -> JobId:
        """Reads the person's own transcript of a file (kind ``caption``): CaptionView."""
        ...

    def set_caption(self, path: Path, text: str, member: str = "") -> JobId:
        """Stores it, searched like a passage; ``""`` takes it away (kind ``caption``): CaptionView."""
        ...

    def set_rules(self, folder: Path, rules: FolderRules) -> JobId:
        """Sets what of a folder is read, then checks it (kind ``index``): IndexReport."""
        ...

    def locate(self, folder: Path, place: Path) -> JobId:
        """Says where a folder that is offline lies now (kind ``index``): IndexReport; its vectors are kept."""
        ...

    def export_problems(self, target: Path, rows: Sequence[ProblemView | LeftOutView]) -> JobId:
        """Writes rows as CSV (kind ``export``): the path written."""
        ...

    def programs(self) -> JobId:
        """Looks for Tesseract and LibreOffice (kind ``programs``): ProgramsView."""
        ...

    def recent(self, limit: int = 200) -> JobId:
        """Lists the documents read last (kind ``recent``): tuple[ChangeView, ...]."""
        ...

    # search --------------------------------------------------------------
    def typing(self) -> None:
        """Tells that the person types: bulk encoding steps aside for a second."""
        ...

    def search(self, query: Query) -> JobId:
        """Searches (kind ``search``): Partial(SearchView), Partial(Marks) maybe, Finished(SearchView).

        The newest wins; an older one ends as ``superseded``.
        """
        ...

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        """Finds documents like this one (kind ``search``): SearchView."""
        ...

    def documents(self, words: str, *, limit: int = 8) -> JobId:
        """Finds documents by their file's name or their title (kind ``documents``): tuple[DocumentView, ...]."""
        ...

    def parse(self, text: str) -> Parsed:
        """Gives what a typed query means; pure and quick, never raises."""
        ...

    def similar_text(self, text: str, *, top: int = 10) -> JobId:
        """Finds documents like a pasted text (kind ``search``): SearchView."""
        ...

    def judge(self, query: str, hit: HitView, verdict: str) -> JobId:
        """Keeps ``relevant``, ``not relevant`` or ``""`` (taken back) for a hit (kind ``judge``): None."""
        ...

    def export_hits(self, view: SearchView, target: Path) -> JobId:
        """Writes hits as the suffix says: csv, json, html or bib (kind ``export``): the path written."""
        ...

    def quotes(self, draft: Path | str) -> JobId:
        """Looks for each quotation of a draft in the library (kind ``quotes``): tuple[QuoteView, ...]."""
        ...

    def family(self, hit: HitView) -> JobId:
        """Finds the versions of a hit's document (kind ``family``): FamilyView, or None."""
        ...

    # collections and saved searches --------------------------------------
    def collections(self) -> JobId:
        """Lists collections (kind ``collections``): tuple[CollectionView, ...]."""
        ...

    def collect(self, name: str, hits: Sequence[HitView], *, note: str = "") -> JobId:
        """Puts passages into a collection, made when new (kind ``collections``): tuple[CollectionView, ...]."""
        ...

    def change_collection(
        self,
        name: str,
        *,
        rename: str = "",
        note: str | None = None,
        take_out: Sequence[int] = (),
        delete: bool = False,
        item_note: tuple[int, str] | None = None,
    ) -> JobId:
        """Changes a collection (kind ``collections``): tuple[CollectionView, ...]."""
        ...

    def export_collection(self, name: str, target: Path) -> JobId:
        """Writes path, page, passage, note as csv, json, html or bib (kind ``export``): the path written."""
        ...

    def saved_searches(self) -> JobId:
        """Lists saved searches with what is fresh (kind ``saved``): tuple[SavedSearchView, ...]."""
        ...

    def save_search(self, name: str, query: Query) -> JobId:
        """Keeps a search (kind ``saved``): tuple[SavedSearchView, ...]."""
        ...

    def remove_saved(self, name: str) -> JobId:
        """Forgets a saved search (kind ``saved``): tuple[SavedSearchView, ...]."""
        ...

    # duplicates -----------------------------------------------------------
    def duplicates(self, query: DuplicateQuery, *, again: bool = False) -> JobId:
        """Finds groups (kind ``duplicates``): Progress, DuplicatesView; the newest request wins.

        What was found is kept: another threshold, kind or rule answers at once. ``again``: looks at the disk anew.
        """
        ...

    def shared_passages(self, query: DuplicateQuery) -> JobId:
        """Finds paragraphs that stand in several documents (kind ``shared-passages``): tuple[SharedPassage, ...]."""
        ...

    def compare(self, left: Copy, right: Copy) -> JobId:
        """Puts two documents side by side (kind ``compare``): ComparisonView; the newest request wins."""
        ...

    def compare_pages(self, left: Copy, right: Copy, pages: tuple[int | None, int | None], *, width: int) -> JobId:
        """Draws a page of each (kind ``compare-pages``): PagesView; the newest request wins."""
        ...

    def have(self, path: Path) -> JobId:
        """Tells whether the library has a file already (kind ``have``): HaveView."""
        ...

    def not_duplicates(self, group: GroupView, *, undo: bool = False) -> JobId:
        """Remembers for good that no two of these are duplicates (kind ``not-duplicates``): None."""
        ...

    def clean_up(self, removals: Sequence[Removal], *, dry: bool = False) -> JobId:
        """Moves files to the trash, each verified just before (kind ``clean-up``): Progress, CleanUpView."""
        ...

    def undo_clean_up(self, id: str, paths: Sequence[Path] = ()) -> JobId:
        """Brings back what a clean-up moved, all or these (kind ``undo-clean-up``): CleanUpView."""
        ...

    def clean_ups(self) -> JobId:
        """Lists clean-ups, newest first (kind ``clean-ups``): tuple[CleanUpView, ...]."""
        ...

    def export_duplicates(self, view: DuplicatesView, target: Path) -> JobId:
        """Writes groups as the suffix says: csv, json or html (kind ``export``): the path written."""
        ...

    # themes ----------------------------------------------------------------
    def clusters(
        self, request: ClusterRequest | None = None, *, again: bool = False, contents: Sequence[int] = ()
    ) -> JobId:
        """Gives the themes (kind ``clusters``): Progress, ClustersView; the newest request wins.

        Without a request: those that are stored, new documents put to their nearest theme; found by default settings
        where there are none yet. With one, or ``again``: found anew; names, pins and what was moved by hand stay.
        ``contents``: only these documents are sorted, and nothing of it is kept.
        """
        ...

    def theme_documents(self, theme: int, *, scope: Sequence[int] = ()) -> JobId:
        """Lists the documents of a theme, the most typical first (kind ``theme-documents``): tuple[DocumentRow, ...].

        ``theme`` UNSORTED (-1): those in none, each with its nearest theme, the surest first.
        """
        ...

    def split_preview(self, theme: int) -> JobId:
        """Tells what splitting a theme would make (kind ``split-preview``): SplitView; the newest request wins."""
        ...

    def change_clusters(self, change: ThemeChange) -> JobId:
        """Changes themes and keeps it (kind ``change-clusters``): ClustersView."""
        ...

    def document_rows(self, contents: Sequence[int]) -> JobId:
        """Gives what lists show of these documents, in this order (kind ``document-rows``): tuple[DocumentRow, ...]."""
        ...

    def export_clusters(self, target: Path) -> JobId:
        """Writes the themes with their documents as csv, json or html (kind ``export``): the path written."""
        ...

    def collect_documents(self, name: str, contents: Sequence[int], *, note: str = "") -> JobId:
        """Puts whole documents into a collection (kind ``collections``): tuple[CollectionView, ...]."""
        ...

    # the map ---------------------------------------------------------------
    def map(self, request: MapRequest) -> JobId:
        """Gives the map (kind ``map``): Progress, Partial(MapView with ``preview``), MapView; the newest wins.

        A request of what is ``stored`` is answered beside it (kind ``map-stored``).
        """
        ...

    def map_colours(self, view: MapView, by: ColourBy, *, query: Query | None = None) -> JobId:
        """Gives what each point's colour says (kind ``map-colours``): ColourView; the newest request wins."""
        ...

    def map_card(self, view: MapView, point: int) -> JobId:
        """Gives what stands on the card beside a point (kind ``map-card``): MapCard; the newest request wins."""
        ...

    def export_map(self, view: MapView, colours: ColourView, target: Path, *, palette: Sequence[str] = ()) -> JobId:
        """Writes the map as csv, or as a self-contained html page (kind ``export``): the path written.

        ``palette``: a colour (``#rrggbb``) for each place that a group's ``colour`` names.
        """
        ...

    # training --------------------------------------------------------------
    def pairs(self, task: Task, count: int = 20, *, among: Sequence[int] = ()) -> JobId:
        """Proposes pairs to judge from the person's own index (kind ``pairs``): tuple[PairView, ...]; newest wins.

        ``among``: passages of these documents (content ids) only.
        """
        ...

    def label(self, pair: PairView, verdict: str) -> JobId:
        """Keeps a judgement (kind ``labels``): LabelsView. ``verdict`` as in :class:`Task`."""
        ...

    def unlabel(self, task: Task, ids: Sequence[str]) -> JobId:
        """Takes judgements back (kind ``labels``): LabelsView."""
        ...

    def relabel(self, task: Task, label: str, verdict: str) -> JobId:
        """Changes a judgement that was made (kind ``labels``): LabelsView."""
        ...

    def labels(self, task: Task) -> JobId:
        """Lists judgements: labelled here, in search and in duplicates (kind ``labels``): LabelsView."""
        ...

    def look_at_table(self, path: Path, mapping: Sequence[tuple[str, str]] = (), kind: str = "") -> JobId:
        """Reads the head of a table of labels (kind ``table``): TableView."""
        ...

    def import_labels(self, path: Path, kind: str, mapping: Sequence[tuple[str, str]]) -> JobId:
        """Takes a table's labels in (kind ``import-labels``): tuple[ImportedView, ...], all that were taken in."""
        ...

    def imported_labels(self) -> JobId:
        """Lists tables of labels that were taken in (kind ``imported-labels``): tuple[ImportedView, ...]."""
        ...

    def remove_imported(self, name: str) -> JobId:
        """Removes a table that was taken in (kind ``imported-labels``): tuple[ImportedView, ...]."""
        ...

    def export_labels(self, task: Task, target: Path) -> JobId:
        """Writes judgements as csv (kind ``export``): the path written."""
        ...

    def check_labels(self, plan: Plan) -> JobId:
        """Checks what a plan would train on (kind ``check-labels``): CheckView; the newest request wins."""
        ...

    def train(self, plan: Plan) -> JobId:
        """Trains and compares (kind ``train``): Partial(TrainingView)..., ComparisonView; pause and cancel as any job.

        Cancelled, closed or killed, it stays as a run that can be resumed.
        """
        ...

    def resume_training(self, run: str) -> JobId:
        """Goes on with a training that was broken off (kind ``train``): as :meth:`train`."""
        ...

    def pause_training(self) -> None:
        """Lets the training under way stand still at the next step; its phase becomes ``Paused``."""
        ...

    def continue_training(self) -> None:
        """Lets it go on after a pause."""
        ...

    def trainings(self) -> JobId:
        """Lists trainings, newest first (kind ``trainings``): tuple[RunView, ...]."""
        ...

    def keep_training(self, run: str) -> JobId:
        """Keeps a tuned model among the models without using it (kind ``trainings``): tuple[RunView, ...]."""
        ...

    def discard_training(self, run: str) -> JobId:
        """Removes a training and what it made (kind ``trainings``): tuple[RunView, ...]."""
        ...

    def adopt(self, run: str) -> JobId:
        """Puts a tuned model to use (kind ``spaces``): tuple[SpaceView, ...]; refused (``not-adopted``) when worse.

        Its space is prepared as kind ``index``; the old one serves until then. A cross-encoder is in use at once.
        """
        ...

    def spaces(self) -> JobId:
        """Lists the spaces of this library (kind ``spaces``): tuple[SpaceView, ...]."""
        ...

    def use_space(self, fingerprint: str) -> JobId:
        """Goes back to a kept space, at once (kind ``spaces``): tuple[SpaceView, ...]."""
        ...

    def remove_space(self, fingerprint: str) -> JobId:
        """Removes a kept space, or gives up the one being built (kind ``spaces``): tuple[SpaceView, ...]."""
        ...

    def lab(self, models: Sequence[str], data: str = "judgements", ways: Sequence[str] = ()) -> JobId:
        """Measures models (kind ``lab``): Progress, Partial(LabView), LabView; the newest request wins.

        ``data``: ``judgements``, or the path of a file that ``evaluate`` reads. ``ways``: ``pooling``, ``dimensions``,
        ``int8``; none: each model as it is.
        """
        ...

    def lab_results(self) -> JobId:
        """Gives what the lab measured last in this library (kind ``lab-results``): LabView, or None."""
        ...

    def export_lab(self, view: LabView, target: Path) -> JobId:
        """Writes the lab's table as csv (kind ``export``): the path written."""
        ...

    def unread_languages(self) -> JobId:
        """Counts documents in languages that the model in use does not know (kind ``unread-languages``).

        tuple[UnreadLanguage, ...], most documents first; empty when it knows all, or says nothing of languages.
        """
        ...

    # the daily copy -------------------------------------------------------
    def kept_copy(self) -> JobId:
        """Looks for a daily copy that holds more than the library (kind ``kept``): KeptView, or None."""
        ...

    def restore_kept(self, source: Path | None = None) -> JobId:
        """Brings back what a copy holds and the library lacks (kind ``kept``): KeptView of what came back."""
        ...

    # index health ---------------------------------------------------------
    def health(self) -> JobId:
        """Measures recall and counts rows (kind ``health``): HealthView."""
        ...

    def repair(self) -> JobId:
        """Rebuilds the index and drops dead rows (kind ``index``): HealthView."""
        ...

    # models: changing them -------------------------------------------------
    def add_model(self, source: str, *, again: str = "") -> JobId:
        """Adds a model from a folder, or, after the person's click, from the hub (kind ``models``).

        What was broken off goes on where it stopped. ``again``: name of the model that it takes the place of.
        """
        ...

    def use_model(self, name: str) -> JobId:
        """Has the library come to an encoder, or uses a cross-encoder at once (kind ``models``): tuple[ModelView, ...].

        The encoder's space is prepared as kind ``index`` (``IndexProgress.preparing``, ``LibraryView.preparing``); the
        one in use serves until then, and stays ``active``.
        """
        ...

    def remove_model(self, name: str) -> JobId:
        """Removes an added model's files (kind ``models``): tuple[ModelView, ...]."""
        ...

    def preview(self, hit: HitView, *, page: int | None = None, width: int = 704, as_text: bool = False) -> JobId:
        """Prepares the preview of a hit (kind ``preview``): PreviewView; ``page`` turns the page.

        ``as_text``: PreviewText, also of what would be drawn as a page.
        """
        ...

    def history(self) -> tuple[str, ...]:
        """Gives earlier queries, newest first (from memory)."""
        ...

    def clear_history(self) -> None:
        """Forgets them."""
        ...

    # files ---------------------------------------------------------------
    def open_file(self, path: Path, page: int | None = None) -> JobId:
        """Opens a file with the system's program (kind ``open``): None; programs are revealed instead."""
        ...

    def open_with(self, path: Path, program: Path) -> JobId:
        """Opens a file with a program that the person chose (kind ``open``): None."""
        ...

    def openers(self, path: Path) -> JobId:
        """Lists programs that open a file (kind ``openers``): tuple[OpenerView, ...], the usual one first."""
        ...

    def reveal(self, path: Path) -> JobId:
        """Shows a file in the file manager (kind ``open``): None."""
        ...

    # models --------------------------------------------------------------
    def models(self) -> JobId:
        """Lists models (kind ``models``): tuple[ModelView, ...]."""
        ...

    def verify_models(self) -> JobId:
        """Checks every model file's sha256 (kind ``models``): tuple[ModelView, ...]."""
        ...

    def close(self, timeout: float = 5.0) -> None:
        """Cancels the lanes, joins them, ends children, closes the library."""
        ...
