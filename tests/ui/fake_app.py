"""A program without rooms behind it: canned answers, posted from a thread as the real one does.

``FakeApp(settings, state=...)``: ``empty``, ``full`` (default), ``indexing``, ``paused``, ``refused``
(the model was refused), ``huge`` (a hundred thousand documents, many folders, 5,000 problems), ``readonly``,
``kinds`` (folders of each state, problems of each cause, members of containers, changed and offline hits,
collections and saved searches), ``kept`` (``full`` with collections and saved searches),
``bare`` (as ``kinds`` on a computer without Tesseract and LibreOffice), ``calm`` (no problem, nothing left out).
All names and figures are invented.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.views import (
    CaptionView,
    ChangeView,
    DocumentView,
    Estimate,
    FolderView,
    HitView,
    IndexHealth,
    IndexProgress,
    IndexReport,
    LeftOut,
    LeftOutView,
    LibraryView,
    Marks,
    ModelView,
    PreviewPage,
    PreviewText,
    ProblemView,
    ProgramsView,
    SearchView,
    UnlockView,
    UnreadLanguage,
)
from sbert_desktop.domain import (
    Event,
    Failure,
    Finished,
    FolderRules,
    JobId,
    Outcome,
    Partial,
    Progress,
    Query,
    ScoreKind,
    Started,
)
from sbert_desktop.settings import Settings
from tests.ui.fake_clusters import FakeClusters
from tests.ui.fake_duplicates import FakeDuplicates
from tests.ui.fake_kept import MODEL, FakeKept
from tests.ui.fake_lab import FakeLab
from tests.ui.fake_map import FakeMap
from tests.ui.fake_search import FakeSearch
from tests.ui.fake_training import FakeTraining

HOME = Path.home()
NOW = 1_700_000_000.0

FOLDERS = (
    FolderView(HOME / "Documents", 4912, 4912, 88_120, 21, "current", NOW - 120),
    FolderView(HOME / "Notes", 641, 641, 4_960, 2, "current", NOW - 3600),
    FolderView(HOME / "Mail", 3247, 3247, 12_740, 0, "current", NOW - 86_400),
)

KINDS = (
    replace(FOLDERS[0], watch="live", rules=FolderRules(exclude=("drafts/", "*.bak")), ignored=3),
    replace(
        FOLDERS[1],
        watch="periodic",
        watch_note="The folder is on a network drive (nfs): it is checked every 10 minutes.",
    ),
    replace(FOLDERS[2], watch="live"),
    FolderView(Path("/media/stick/Photos of documents"), 1204, 1204, 7000, 4, "offline", NOW - 86_400 * 9),
)

# (folder, file, member, code, message, hint, partial)
_PROBLEMS = (
    ("Documents/Scans/2019", "Scan 2019-08 water bill.pdf", "", "no-text-layer",
     "The file holds pictures of pages but no text.", "Run text recognition on it, or add a caption.", False),
    ("Documents/Bank", "Bank statement 2021-04.pdf", "", "encrypted", "The file is protected with a password.",
     "Enter the password to read it once or to keep it findable.", False),
    ("Documents/Garden", "Seed orders 2018.xls", "", "needs-program", "Reading this file needs LibreOffice.",
     "Install LibreOffice, then try again.", False),
    ("Documents/Research/Talks", "Soil talk, Wexcombe.docx", "", "damaged", "The file is damaged at its end.",
     "Open it in its own program and save it again.", True),
    ("Notes/Archive", "Old diary 1998.txt", "", "unreadable", "The file could not be opened.",
     "Check that you may read it.", False),
    ("Documents/Travel/Maps", "Map sheet 44 reprint.pdf", "", "too-large", "The file is larger than the limit: 1.4 GB.",
     "Raise the size limit in the settings to read it.", False),
    ("Documents/Letters", "Untitled 7.docx", "", "empty", "The file holds no text.", "", False),
    ("Documents/Research", "Plot notes week 31.pdf", "", "timed-out", "Reading the file took longer than 60 s.",
     "Raise the time limit in the settings to try again.", False),
    ("Documents/Research", "Plots 2017.xlsx", "", "too-much-memory", "Reading the file took more than 2,048 MB.",
     "Raise the memory limit in the settings to try again.", False),
    ("Documents/Research", "Far cell.xlsx", "", "crashed-parser", "The reader for this type of file crashed on it.",
     "The file may be damaged. Save it again in its own program.", False),
    ("Documents/Research", "Interview 4.docx", "", "interrupted",
     "The program was ended while it read this file, so it was skipped.", "Try again, alone.", False),
    ("Notes", "<img src=x onerror=alert(1)> & “quotes”.md", "", "damaged", "The file is damaged.",
     "Open it in its own program and save it again.", False),
    ("Documents/Very/Long/Path/That/Goes/On/And/On/Into/The/Deepest/Folder/Of/All/Folders/Ever/Made",
     "A file name that is much longer than any column could ever be, with a date 2021-03-04 and a version 17.docx", "",
     "damaged", "Three of its 40 pages could not be read.", "The others are findable.", True),
    ("Mail", "mail-2022-11.mbox", "418 Re: flat, handing over the keys.eml/Floor plan.pdf", "no-text-layer",
     "The file holds pictures of pages but no text.", "Run text recognition on it, or add a caption.", False),
    ("Mail", "mail-2022-11.mbox", "97 Payslip November.eml/payslip.pdf", "encrypted",
     "The file is protected with a password.", "Enter the password to read it once or to keep it findable.", False),
    ("Mail", "outlook.pst", "", "needs-export", "This kind of mail store is not read.",
     "Export it as mbox or eml from the mail program.", False),
    ("Documents/Backup", "Old laptop.zip", "", "archive-limit", "The archive holds more than 2,000 files.",
     "Unpack it to have all of it read.", True),
    ("Documents/Cloud", "Budget 2026.xlsx", "", "cloud-only", "The file lies only in the cloud.",
     "Make it available offline to have it read.", False),
    ("Documents/Scans/Letters", "Letter of 1943.jpg", "", "reads-badly",
     "Text recognition was unsure about most words, perhaps handwriting.",
     "Add a transcript of your own to make it findable.", True),
    ("Documents/Scans/Letters", "Garden in May.heic", "", "picture",
     "The file is a picture; its text was not recognised.", "Turn on text recognition in the settings.", False),
    ("Documents/Music", "Choir rehearsal.mp3", "", "unknown-type", "This type of file is not read.", "", False),
)

TEXT = (
    "§ 7 Deposit. The landlord returns the deposit within thirty days after the keys are handed over, less any sums "
    "still owed. Interest earned on the deposit belongs to the tenant and is paid out together with it."
)


def problems() -> tuple[ProblemView, ...]:
    """Gives the canned problems: one of each kind, a row of scans, three that are ignored."""
    out = [
        ProblemView(HOME / folder / file, HOME / folder.split("/")[0], code, message, hint, partial, member,
                    False, 10_000 + 7919 * at, NOW - 3_000 * at)
        for at, (folder, file, member, code, message, hint, partial) in enumerate(_PROBLEMS)
    ]
    return tuple(out + [scan(at, ignored=at >= 10) for at in range(13)])


def scan(at: int, *, ignored: bool = False) -> ProblemView:
    """Gives one of many scans without a text."""
    return ProblemView(HOME / "Documents" / "Scans" / f"Scan {at:05}.pdf", HOME / "Documents", "no-text-layer",
                       "The file holds pictures of pages but no text.",
                       "Run text recognition on it, or add a caption.", False, "", ignored, 400_000 + at, NOW - 60 * at)


def many_problems(number: int) -> tuple[ProblemView, ...]:
    """Gives a long list: every cause, spread over many folders."""
    few = problems()
    return tuple(
        replace(few[at % len(few)], path=HOME / "Documents" / f"Shelf {at % 211:03}" / f"File {at:05}.pdf",
                folder=HOME / "Documents", when=NOW - at)
        for at in range(number)
    )


def left_out() -> LeftOut:
    """Gives what rules leave out."""
    rows = (
        (".obsidian", "Notes", "hidden", "Its name begins with a dot.", True),
        (".profile", "Documents", "hidden", "Its name begins with a dot.", False),
        ("drafts", "Documents/Letters", "pattern", "Your rule drafts/ leaves it out.", True),
        ("Thesis.bak", "Documents/Research", "pattern", "Your rule *.bak leaves it out.", False),
        ("node_modules", "Documents/Site", "ignore-file", "The file .gitignore in Site leaves it out.", True),
        ("Holiday.mov", "Documents/Travel", "unknown-type", "Films are not read.", False),
        ("Thumbs.db", "Documents/Scans", "system", "It belongs to the system.", False),
        ("To the archive", "Documents", "link", "It leads out of the folder.", True),
        ("~$Letter.docx", "Documents/Letters", "lock-file", "It marks a document that is open.", False),
        ("socket", "Documents/Site", "special", "It is no real file.", False),
        ("Everything.txt", "Documents/Backup", "too-large", "Larger than the limit: 6.1 GB.", False),
    )
    extra = [(f"Song {at:02}.flac", "Documents/Music", "unknown-type", "Music is not read.", False)
             for at in range(40)]
    views = tuple(
        LeftOutView(HOME / place / own, HOME / place.split("/")[0], reason, message, folder)
        for own, place, reason, message, folder in (*rows, *extra)
    )
    counts: dict[str, int] = {}
    for view in views:
        counts[view.reason] = counts.get(view.reason, 0) + 1
    return LeftOut(views, len(views), tuple(counts.items()))


def hit(number: int, path: Path, *, page: int | None = 3, score: float = 0.71) -> HitView:
    """Gives one canned hit."""
    return HitView(
        passage_id=number,
        content_id=number // 10,
        path=path,
        text=TEXT,
        start=1200,
        end=1200 + len(TEXT),
        page=page,
        location=f"p. {page}" if page else "",
        score=score,
        score_kind=ScoreKind.FUSED,
        cosine=score - 0.1,
        bm25=7.2,
        meaning_rank=number % 7 + 1,
        words_rank=number % 5 + 1,
        best_sentence=None,
        words=((26, 33), (53, 60)),
    )


def documents() -> tuple[DocumentView, ...]:
    """Gives the canned results."""
    names = (
        ("Documents/Home/Contracts/Tenancy agreement Alder Street 14.pdf", "pdf"),
        ("Mail/2022/Re flat keys.eml", "eml"),
        ("Notes/Home/Moving out checklist.md", "md"),
        ("Documents/Home/Letters/Letter to the landlord.docx", "docx"),
        ("Documents/Travel/Larkmoor cottage booking terms.pdf", "pdf"),
        ("Documents/Invoices/Scooter hire invoice 2024-03.pdf", "pdf"),
    )
    out = []
    for number, (name, kind) in enumerate(names):
        path = HOME / name
        score = 0.71 - 0.06 * number
        hits = tuple(
            hit(10 * number + i, path, page=3 + i if kind == "pdf" else None, score=score - 0.05 * i)
            for i in range(3 if number % 2 == 0 else 1)
        )
        out.append(
            DocumentView(
                number,
                path,
                (path,),
                path.stem,
                kind,
                NOW - 86_400 * 40 * number,
                412_000,
                "en",
                score,
                hits,
                2 if number == 1 else 0,
            )
        )
    return tuple(out)


def kinds_of_documents() -> tuple[DocumentView, ...]:
    """Gives results inside containers, changed ones and one on a drive that is away."""
    box, archive = HOME / "Mail" / "mail-2022-11.mbox", HOME / "Documents" / "Backup" / "Old laptop.zip"
    talk, stick = HOME / "Documents" / "Talks" / "Interview 4.vtt", Path("/media/stick/Photos of documents/Lease.pdf")
    letter = HOME / "Documents" / "Home" / "Letter to the landlord.docx"
    rows = (
        (box, "418 Re: flat, handing over the keys.eml", "Re: flat, handing over the keys", "eml", "current", ""),
        (archive, "docs/tenancy/Handover record.pdf", "Handover record", "pdf", "current", "p. 2"),
        (letter, "", "Letter to the landlord", "docx", "changed", ""),
        (talk, "", "Interview 4", "vtt", "current", "00:01:05 Anna"),
        (stick, "", "Lease", "pdf", "offline", "p. 9"),
        (box, "97 Payslip November.eml/payslip.pdf", "payslip", "pdf", "current", "p. 1"),
    )
    out = []
    for number, (path, member, title, kind, state, where) in enumerate(rows):
        score = 0.74 - 0.05 * number
        page = int(where[3:]) if where.startswith("p. ") else None
        hits = tuple(
            replace(hit(200 + 10 * number + i, path, page=page, score=score - 0.04 * i), member=member,
                    location=where if i == 0 else where.replace("01:05", "14:20"), stale=state == "changed")
            for i in range(2 if number % 3 == 0 else 1)
        )
        out.append(DocumentView(20 + number, path, (path,), title, kind, NOW - 86_400 * 30 * number, 412_000, "en",
                                score, hits, 0, state, member))
    return tuple(out)


class FakeApp(FakeLab, FakeTraining, FakeMap, FakeClusters, FakeKept, FakeSearch, FakeDuplicates):
    """Commands with canned answers; every answer comes from the fake's own thread."""

    def __init__(self, settings: Settings, *, state: str = "full", delay: float = 0.0) -> None:
        self.settings = settings
        self.state = state
        self.delay = delay
        self.calls: list[tuple[object, ...]] = []
        self.closed = False
        self.paused = state == "paused"
        self.pace = "gentle"
        self.fail: dict[str, Failure] = {}
        self.unread: tuple[UnreadLanguage, ...] = ()
        self.estimate_problem = ""
        self.folders: tuple[FolderView, ...] = () if state == "empty" else FOLDERS
        if state in ("kinds", "bare"):
            self.folders = KINDS
        if state == "calm":
            self.folders = tuple(replace(folder, problems=0, watch="live") for folder in FOLDERS)
        self.problem_rows: tuple[ProblemView, ...] = problems()
        if state in ("empty", "calm"):
            self.problem_rows = ()
        elif state == "huge":
            self.problem_rows = many_problems(5000)
        self.captions: dict[tuple[Path, str], str] = {}
        self.password = "open sesame"
        self.helpers = ProgramsView("5.3.0", ("eng", "deu", "osd"), "7.4.7")
        if state == "bare":
            self.helpers = ProgramsView("", (), "")
        self.keep_nothing_yet()
        self.judge_nothing_yet()
        self.find_nothing_yet()
        self.sort_nothing_yet()
        self.train_nothing_yet()
        self._hidden: dict[Path, FolderView] = {}
        self._history = ["when do I get my deposit back", "tyre sizes of the scooter"]
        self._numbers = itertools.count(1)
        self._post: Callable[[Event], None] | None = None
        self._queue: queue.Queue[list[Event] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="fake-app", daemon=True)
        self._thread.start()

    # ---- plumbing

    def connect(self, post: Callable[[Event], None]) -> None:
        self._post = post
        if self.state in ("indexing", "paused"):
            self.start_index()

    def _work(self) -> None:
        while True:
            events = self._queue.get()
            if events is None:
                return
            if self.delay:
                time.sleep(self.delay)
            for event in events:
                if self._post is not None:
                    self._post(event)

    def _job(self, kind: str, result: object, *partials: object, events: Sequence[Event] = ()) -> JobId:
        job = JobId(f"{kind}-{next(self._numbers)}")
        out: list[Event] = [Started(job, kind)]
        failure = self.fail.get(kind)
        out += [Partial(job, partial) for partial in partials]
        out += events
        if failure is not None:
            out.append(Finished(job, Outcome.FAILED, None, failure))
        else:
            out.append(Finished(job, Outcome.DONE, result))
        self._queue.put(out)
        return job

    def start_index(self) -> JobId:
        """Begins a run that does not end by itself."""
        job = JobId(f"index-{next(self._numbers)}")
        self._queue.put(
            [
                Started(job, "index"),
                Progress(job, "reading", 1240, 8800),
                Partial(job, self.progress()),
                Partial(job, self.view()),
            ]
        )
        return job

    def end_index(self, job: JobId, outcome: Outcome = Outcome.DONE, failure: Failure | None = None) -> None:
        """Ends such a run."""
        self.state = "full"
        self._queue.put([Finished(job, outcome, self.report(), failure)])

    def say(self, events: Sequence[Event]) -> None:
        """Posts any events from the fake's thread."""
        self._queue.put(list(events))

    # ---- canned state

    def progress(self) -> IndexProgress:
        return IndexProgress(
            HOME / "Documents",
            str(HOME / "Documents/Research/Soil moisture/2022 field season/Plot notes week 31.docx"),
            1240,
            8800,
            4100,
            29_000,
            312.4,
            71_000.0,
            240.0,
            self.paused,
            self.pace,
        )

    def report(self) -> IndexReport:
        return IndexReport(8800, 96_204, 23, 8800, 0, 0, 0, 0, 96_204, 300.0, 320.0, 70_000.0, "openvino", "CPU")

    def view(self) -> LibraryView:
        folders = self.folders
        if self.state in ("indexing", "paused"):
            state = "paused" if self.paused else "indexing"
            folders = (
                replace(FOLDERS[0], embedded=599, state=state),
                FOLDERS[1],
                replace(FOLDERS[2], documents=3247, embedded=0, state="waiting", last_change=None),
            )
        if self.state == "huge":
            folders = tuple(
                replace(
                    FOLDERS[i % 3], path=HOME / f"Archive {i:02}", documents=11_000 + i * 37, embedded=11_000 + i * 37
                )
                for i in range(11)
            )
            folders = (*folders, KINDS[3])
        model = MODEL
        if self.state == "refused":
            model = replace(
                MODEL,
                state="refused",
                note="model.safetensors is not the file that was verified. Meaning is off; search by words goes on.",
            )
        documents_count = sum(folder.documents for folder in folders)
        passages = sum(folder.passages for folder in folders)
        return LibraryView(
            path=HOME / ".local/share/sbert-desktop/library",
            folders=folders,
            documents=documents_count,
            passages=passages,
            embedded=13_551 if self.state in ("indexing", "paused") else passages,
            problems=sum(folder.problems for folder in folders),
            model=model,
            backend="openvino",
            device="CPU",
            precision="bf16",
            index=IndexHealth("hnsw", passages, 0.993) if passages > 20_000 else IndexHealth("exact", passages),
            read_only=self.state == "readonly",
            notices=("The library is read-only.",) if self.state == "readonly" else (),
            formats=("docx", "eml", "md", "pdf", "txt"),
            languages=("en", "de"),
        )

    # ---- library

    def refresh(self) -> JobId:
        self.calls.append(("refresh",))
        return self._job("refresh", self.view())

    def estimate(self, folders: Sequence[Path]) -> JobId:
        self.calls.append(("estimate", tuple(folders)))
        return self._job(
            "estimate",
            Estimate(
                tuple(folders),
                8800,
                1_300_000_000,
                (1100.0, 1700.0),
                (118_000_000, 174_000_000),
                (50.0, 80.0),
                self.unread,
                41_000_000_000,
                self.estimate_problem,
            ),
        )

    def add_folders(self, folders: Sequence[Path], *, words_only: bool = False) -> JobId:
        self.calls.append(("add_folders", tuple(folders), words_only))
        self.folders += tuple(FolderView(folder, 12, 12, 40, 0, "current", NOW) for folder in folders)
        return self._job("index", self.report(), self.progress(), self.view())

    def add_sample(self) -> JobId:
        self.calls.append(("add_sample",))
        self.folders += (FolderView(HOME / "sample", 41, 41, 160, 0, "current", NOW),)
        return self._job("index", self.report(), self.view())

    def update(self, *, confirm_removals: bool = False) -> JobId:
        self.calls.append(("update", confirm_removals))
        return self._job("index", self.report(), self.view())

    def pause(self) -> None:
        self.calls.append(("pause",))
        self.paused = True

    def resume(self) -> None:
        self.calls.append(("resume",))
        self.paused = False

    def set_pace(self, pace: str) -> None:
        self.calls.append(("set_pace", pace))
        self.pace = pace

    def cancel(self, job: JobId) -> None:
        self.calls.append(("cancel", job))
        if job.startswith("index"):
            self._queue.put([Finished(job, Outcome.CANCELLED)])
        elif job.startswith("clusters-held"):
            self.let_clusters_go(Outcome.CANCELLED)
        elif job.startswith("duplicates-held"):
            self.let_go(Outcome.CANCELLED)
        elif job.startswith("clean-up-held"):
            self.let_go()
        elif job.startswith("train-held"):
            self.let_training_go(Outcome.CANCELLED)

    def remove_folder(self, folder: Path) -> JobId:
        self.calls.append(("remove_folder", folder))
        for view in self.folders:
            if view.path == folder:
                self._hidden[folder] = view
        self.folders = tuple(view for view in self.folders if view.path != folder)
        return self._job("remove", self.view())

    def undo_remove(self, folder: Path) -> JobId:
        self.calls.append(("undo_remove", folder))
        if folder in self._hidden:
            self.folders = (*self.folders, self._hidden.pop(folder))
        return self._job("remove", self.view())

    def finish_removals(self) -> JobId:
        self.calls.append(("finish_removals",))
        self._hidden.clear()
        return self._job("remove", self.view())

    def problems(self) -> JobId:
        self.calls.append(("problems",))
        return self._job("problems", self.problem_rows if self.folders else ())

    def left_out(self) -> JobId:
        self.calls.append(("left_out",))
        return self._job("left-out", left_out() if self.folders and self.state != "calm" else LeftOut((), 0))

    def check(self, paths: Sequence[Path]) -> JobId:
        self.calls.append(("check", tuple(paths)))
        return self._job("index", self.report(), self.view())

    def retry(self, paths: Sequence[Path]) -> JobId:
        self.calls.append(("retry", tuple(paths)))
        return self._job("index", self.report(), self.view())

    def ignore(
        self, paths: Sequence[Path], *, ignored: bool = True, members: Sequence[tuple[Path, str]] = ()
    ) -> JobId:
        self.calls.append(("ignore", tuple(paths), ignored, tuple(members)))
        self.problem_rows = tuple(
            replace(row, ignored=ignored) if row.path in paths or (row.path, row.member) in members else row
            for row in self.problem_rows)
        return self._job("problems", self.problem_rows)

    def recognise(self, paths: Sequence[Path], *, members: Sequence[tuple[Path, str]] = ()) -> JobId:
        self.calls.append(("recognise", tuple(paths), tuple(members)))
        self.problem_rows = tuple(row for row in self.problem_rows
                                  if row.path not in paths and (row.path, row.member) not in members)
        return self._job("index", self.report(), self.view())

    def unlock(self, path: Path, password: str, *, keep: bool, member: str = "") -> JobId:
        self.calls.append(("unlock", path, keep, member))  # never the password
        if password != self.password:
            return self._job("unlock", UnlockView(path, False, "This password does not open the file.", member=member))
        if keep:
            self.problem_rows = tuple(
                row for row in self.problem_rows if (row.path, row.member) != (path, member))
        return self._job("unlock", UnlockView(path, True, "", keep, "" if keep else TEXT, member))

    def caption(self, path: Path, member: str = "") -> JobId:
        self.calls.append(("caption", path, member))
        return self._job("caption", CaptionView(path, self.captions.get((path, member), ""), member))

    def set_caption(self, path: Path, text: str, member: str = "") -> JobId:
        self.calls.append(("set_caption", path, text, member))
        self.captions[path, member] = text
        return self._job("caption", CaptionView(path, text, member))

    def set_rules(self, folder: Path, rules: FolderRules) -> JobId:
        self.calls.append(("set_rules", folder, rules))
        self.folders = tuple(replace(view, rules=rules) if view.path == folder else view for view in self.folders)
        return self._job("index", self.report(), self.view())

    def locate(self, folder: Path, place: Path) -> JobId:
        self.calls.append(("locate", folder, place))
        self.folders = tuple(
            replace(view, path=place, state="current") if view.path == folder else view for view in self.folders)
        return self._job("index", self.report(), self.view())

    def export_problems(self, target: Path, rows: Sequence[ProblemView | LeftOutView]) -> JobId:
        self.calls.append(("export_problems", target, tuple(rows)))
        return self._job("export", target)

    def programs(self) -> JobId:
        self.calls.append(("programs",))
        return self._job("programs", self.helpers)

    def recent(self, limit: int = 200) -> JobId:
        self.calls.append(("recent", limit))
        out = tuple(
            ChangeView(document.path, document.title, NOW - 977 * i, 3 + i) for i, document in enumerate(documents())
        )
        return self._job("recent", out if self.folders else ())

    # ---- search

    def typing(self) -> None:
        self.calls.append(("typing",))

    def search(self, query: Query) -> JobId:
        self.calls.append(("search", query))
        found = documents() if "nothing" not in query.text else ()
        notes = ("Still indexing, more may come.",) if self.state == "indexing" else ()
        if self.state in ("kinds", "bare") and found:
            found = kinds_of_documents()
            notes = ("2 documents that are gone were left out.",)
        view = SearchView(
            query.text,
            query.mode,
            query.filters,
            query.by,
            38.0,
            found,
            sum(len(d.hits) + d.more for d in found),
            96_204,
            13_551 if self.state == "indexing" else 96_204,
            7,
            notes,
        )
        view = self.told(view)
        marks = Marks({h.passage_id: (13, 111) for d in found for h in d.hits})
        return self._job("search", view, view, marks)

    def all_documents(self) -> tuple[DocumentView, ...]:
        return documents()

    def similar(self, path: Path, *, top: int = 10) -> JobId:
        self.calls.append(("similar", path))
        return self.search(Query(str(path), top=top))

    def preview(self, hit: HitView, *, page: int | None = None, width: int = 704, as_text: bool = False) -> JobId:
        self.calls.append(("preview", hit.passage_id, page))
        if hit.page is not None and not as_text:
            height = width * 297 // 210
            rows = bytearray(b"\xff" * (width * height * 3))
            for y in range(60, height - 120, 26):  # grey lines where text would stand
                for x in range(60, width - 60 - (y * 7) % 140):
                    at = (y * width + x) * 3
                    rows[at : at + 3] = b"\x80\x80\x80"
            box = ((60.0, 320.0, width - 140.0, 14.0), (60.0, 346.0, width - 260.0, 14.0))
            return self._job(
                "preview",
                PreviewPage(hit.path, hit.path.stem, page or hit.page, 12, width, height, bytes(rows), box, box[:1]),
            )
        text = "Before the last day\n\n" + "Some words before the passage. " * 30 + TEXT + " Some words after it." * 30
        start = text.index(TEXT)
        return self._job(
            "preview",
            PreviewText(
                hit.path,
                hit.path.stem,
                hit.path.suffix[1:],
                text,
                0,
                (start, start + len(TEXT)),
                (start + 13, start + 111),
                ((start + 26, start + 33),),
            ),
        )

    def history(self) -> tuple[str, ...]:
        return tuple(self._history)

    def clear_history(self) -> None:
        self.calls.append(("clear_history",))
        self._history.clear()

    # ---- files

    def open_file(self, path: Path, page: int | None = None) -> JobId:
        self.calls.append(("open_file", path, page))
        return self._job("open", None)

    def reveal(self, path: Path) -> JobId:
        self.calls.append(("reveal", path))
        return self._job("open", None)

    # ---- models

    def models(self) -> JobId:
        self.calls.append(("models",))
        return self._job("models", self._models())

    def verify_models(self) -> JobId:
        self.calls.append(("verify_models",))
        return self._job("models", self._models())

    def _models(self) -> tuple[ModelView, ...]:
        return (self.view().model, *self.model_rows)

    def close(self, timeout: float = 60.0) -> None:
        self.closed = True
        self._queue.put(None)
        self._thread.join(timeout)
