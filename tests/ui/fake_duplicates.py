"""The part of the fake program that finds duplicates: canned groups, a trash that refuses what a test wants."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.duplicate_views import (
    CleanUpView,
    ComparisonView,
    DiffRow,
    DuplicatesView,
    GroupView,
    HaveView,
    MemberView,
    MovedView,
    PagesView,
    SharedPassage,
)
from sbert_desktop.cleanup import NEVER_TICKED, Copy, DuplicateKind, DuplicateQuery, Removal, is_below
from sbert_desktop.domain import Event, Finished, JobId, Outcome, Progress, Started

HOME = Path.home()
NOW = 1_700_000_000.0
K = DuplicateKind

# title, kind, lowest, (path below home, days old, bytes, why not or warning), versions
_GROUPS: tuple[tuple[str, DuplicateKind, float, tuple[tuple[str, int, int, str], ...], str], ...] = (
    ("Field season talk 2022", K.BYTES, 1.0,
     (("Documents/Research/Field season talk 2022.pptx", 40, 15_200_000, ""),
      ("Documents/Research/Talks/Field season talk 2022 (1).pptx", 41, 15_200_000, ""),
      ("Downloads/Field season talk 2022.pptx", 42, 15_200_000, ""),
      ("Downloads/Field season talk 2022 (2).pptx", 43, 15_200_000, ""),
      ("Mail/mail-2022-11.mbox|418 Slides.eml/Field season talk 2022.pptx", 44, 15_200_000, "member")), ""),
    ("Choir scores, winter concert", K.NEAR, 0.94,
     (("Documents/Choir/Choir scores, winter concert.pdf", 12, 1_050_000, ""),
      ("Documents/Choir/Old/Choir scores, winter concert.pdf", 30, 1_040_000, ""),
      ("Downloads/Choir scores.pdf", 31, 1_020_000, "3 sentences that the kept file lacks")), ""),
    ("Soil moisture protocol v3", K.TEXT, 1.0,
     (("Documents/Research/Soil moisture protocol v3.docx", 8, 760_000, ""),
      ("Documents/Research/Soil moisture protocol v2.docx", 60, 740_000, ""),
      ("Documents/Archive/Soil moisture protocol.docx", 200, 730_000, "protected"),
      ("Documents/Research/Soil moisture protocol, final.docx", 61, 735_000, "")),
     "newest of 4 by name (v3)"),
    ("Coast walk plan 2024", K.NEAR, 0.97,
     (("Documents/Travel/Coast walk plan 2024.odt", 3, 812_000, ""),
      ("Downloads/coast walk plan (1).odt", 15, 806_000, ""),
      ("Documents/Archive/Coast walk plan, old.odt", 20, 801_000, "")), ""),
    ("Larkmoor cottage booking terms", K.BYTES, 1.0,
     (("Documents/Travel/Larkmoor cottage booking terms.pdf", 100, 820_000, ""),
      ("Downloads/Larkmoor cottage booking terms.pdf", 101, 820_000, "")), ""),
    ("Household budget 2023", K.FORMAT, 1.0,
     (("Documents/Home/Household budget 2023.ods", 90, 340_000, ""),
      ("Documents/Home/Household budget 2023.pdf", 89, 340_000, "signed")), ""),
    ("Invoice 2024-031, garden timber", K.NUMBERS, 0.99,
     (("Documents/Invoices/Invoice 2024-031, garden timber.pdf", 70, 41_000, ""),
      ("Documents/Invoices/Invoice 2024-032, garden timber.pdf", 68, 41_000, "numbers differ")), ""),
    ("Course outline, soils for gardens", K.CONTAINED, 0.96,
     (("Documents/Teaching/Course outline, soils for gardens.docx", 140, 96_000, ""),
      ("Documents/Teaching/Course outline, short.docx", 141, 40_000, "")), ""),
    ("Letter to Aunt Odile, May", K.RELATED, 0.88,
     (("Documents/Letters/Letter to Aunt Odile, May.odt", 190, 22_000, ""),
      ("Documents/Letters/Letter to Aunt Odile, June.odt", 160, 21_000, "")), ""),
    ("Packing list, camping", K.TEXT, 1.0,
     (("Notes/Packing list, camping.md", 300, 4_000, ""),
      ("Notes/Old/Packing list, camping.txt", 320, 4_000, "")), ""),
)


def copy(place: str, days: int, size: int, unit: int, sha: str) -> Copy:
    """Gives one canned file or member."""
    own, _, member = place.partition("|")
    path = HOME / own
    suffix = (member or own).rpartition(".")[2].lower()
    return Copy(unit, path, size, round((NOW - 86_400 * days) * 1e9), 1, unit * 10 + days, sha, member, unit, suffix,
                path.stem, None, HOME / own.split("/")[0])


def group(number: int) -> GroupView:
    """Gives one canned group, ticked by no rule yet."""
    title, kind, lowest, files, versions = _GROUPS[number]
    members = []
    for at, (place, days, size, note) in enumerate(files):
        unit = number * 10 + (0 if kind is K.BYTES else at)
        sha = hashlib.sha256(str(unit).encode()).hexdigest()
        barred = {"member": "inside a mail, mailbox or archive", "protected": "in a protected folder"}.get(note, "")
        members.append(MemberView(
            replace(copy(place, days, size, unit, sha), signed=note == "signed"), chr(65 + at), at == 0, False,
            not barred, barred, "newest" if at == 0 else "", "" if barred else note,
            K.BYTES if kind is K.BYTES or at == 0 else kind, 1.0 if at == 0 else lowest))
    win = sum(one.copy.size for one in members[1:] if one.may_tick and kind not in NEVER_TICKED)
    return GroupView(f"g{number}", title, kind, lowest, tuple(members), win, versions, kind is K.NUMBERS)


def folder_group() -> GroupView:
    """Gives two folders that hold the same files."""
    members = []
    for at, place in enumerate(("Documents/Photos of the garden", "Downloads/Photos of the garden")):
        files = tuple(copy(f"{place}/Bed {n:02}.jpg", 50 + n, 900_000, 500 + n, f"{n:064}") for n in range(12))
        whole = Copy(0, HOME / place, sum(one.size for one in files), files[0].mtime_ns, 0, 0, "", format="folder")
        members.append(MemberView(whole, chr(65 + at), at == 0, False, True, "", "in ~/Documents" if at == 0 else "",
                                  "", K.BYTES, 1.0, files=files))
    return GroupView("folders", "Photos of the garden", K.BYTES, 1.0, tuple(members), 10_800_000, folders=True)


def many_groups(number: int) -> tuple[GroupView, ...]:
    """Gives a long list: every kind, ten files a group."""
    few = [group(at) for at in range(len(_GROUPS))]
    out = []
    for at in range(number):
        base = few[at % len(few)]
        first = base.members[0]
        members = [replace(first, copy=replace(first.copy, path=HOME / f"Shelf {at % 211:03}" / f"File {at:05}.pdf"))]
        for n in range(1, 10):
            one = replace(base.members[1], mark=chr(65 + n), copy=replace(
                base.members[1].copy, path=HOME / f"Shelf {at % 211:03}" / f"File {at:05} ({n}).pdf"))
            members.append(one)
        out.append(replace(base, key=f"m{at}", title=f"File {at:05}", members=tuple(members),
                           bytes_to_win=(number - at) * 9000))
    return tuple(out)


def by_rules(one: GroupView, query: DuplicateQuery) -> GroupView:
    """Ticks a group as the rules of a query say, as far as a fake needs it."""
    rules = query.assistant
    members = []
    for member in one.members:
        barred = is_below(member.copy.path, rules.protected)
        may = member.may_tick and not barred
        goes = (may and not member.keep and not member.warning and member.relation in rules.kinds
                and (not rules.only_in or is_below(member.copy.path, rules.only_in)))
        members.append(replace(member, ticked=goes, may_tick=may, reason="older" if goes else member.reason,
                               why_not=member.why_not or ("in a protected folder" if barred else "")))
    return replace(one, members=tuple(members))


_ROWS = (
    *(DiffRow(f"Line {n} of the first day.", f"Line {n} of the first day.", True, (), (), 1, 1) for n in range(34)),
    DiffRow("Second day, Larkmoor to Pell Head", "Second day, Larkmoor to Pell Head", True, (), (), 2, 2, True),
    DiffRow("After breakfast we follow the cliff path north. The way down to the cove is steep and slippery after "
            "rain, so take the upper path when it is wet.",
            "After breakfast we follow the cliff path north. The way down to the cove is steep and best left out in "
            "rain.", False, ((86, 143),), ((86, 107),), 2, 2),
    DiffRow("Lunch at the old lifeboat house; they have soup all day and a dry room for boots.",
            "Lunch at the old lifeboat house; they have soup all day.", False, ((56, 80),), (), 2, 2),
    *(DiffRow(f"Line {n} of the third day.", f"Line {n} of the third day.", True, (), (), 3, 3) for n in range(6)),
    DiffRow("Ask for the room facing the garden; it is quieter than the one above the kitchen.",
            "Ask for the room at the back; it is quieter than the one above the kitchen.", False, ((17, 34),),
            ((17, 28),), 3, 3),
    DiffRow("The bus back stops at the chapel, not at the harbour.", "The bus back stops at the chapel.", False,
            ((32, 52),), (), 4, 4),
    *(DiffRow(f"Line {n} of the last day.", f"Line {n} of the last day.", True, (), (), 4, 4) for n in range(51)),
)


class FakeDuplicates:
    """Mixed into :class:`FakeApp`; every call stands in ``calls``."""

    calls: list[tuple[object, ...]]
    state: str
    say: Callable[[Sequence[Event]], None]

    def find_nothing_yet(self) -> None:
        """Sets up what the state wants."""
        self.groups: tuple[GroupView, ...] = (folder_group(), *(group(at) for at in range(len(_GROUPS))))
        if self.state == "huge":
            self.groups = many_groups(10_000)
        elif self.state in ("calm", "empty"):
            self.groups = ()
        self.duplicate_notes: tuple[str, ...] = ()
        self.hold_duplicates = self.hold_clean_up = False
        self.held: list[tuple[JobId, Callable[[], object]]] = []
        self.refuse: dict[str, str] = {}  # part of a name, and why the trash does not take the file
        self.history_rows: list[CleanUpView] = []
        self.have_views: dict[str, HaveView] = {}
        self.apart: set[str] = set()
        self.shared: tuple[SharedPassage, ...] = shared()
        self._moved: dict[str, tuple[GroupView, ...]] = {}
        self._clean_up_numbers = itertools.count(1)

    def _job(self, kind: str, result: object, *partials: object, events: Sequence[Event] = ()) -> JobId:
        raise NotImplementedError

    # ---- finding

    def duplicates(self, query: DuplicateQuery, *, again: bool = False) -> JobId:
        self.calls.append(("duplicates", query, again))
        if self.hold_duplicates:
            job = JobId(f"duplicates-held-{len(self.held)}")
            self.held.append((job, lambda: self.cut(query)))
            self.say([Started(job, "duplicates"), Progress(job, "Reading texts", 1240, 8800),
                      Progress(job, "Comparing texts", 3100, 8800)])
            return job
        return self._job("duplicates", self.cut(query))

    def let_go(self, outcome: Outcome = Outcome.DONE) -> None:
        """Ends the jobs that were held."""
        held, self.held = self.held, []
        for job, answer in held:
            self.say([Finished(job, outcome, answer() if outcome is Outcome.DONE else None)])

    def cut(self, query: DuplicateQuery) -> DuplicatesView:
        """Gives what stands in ``groups``, cut and ticked as a query asks."""
        found = []
        for one in self.groups:
            least = query.related if one.kind is K.RELATED else query.near if one.kind in (K.NEAR, K.CONTAINED) else 0
            if one.kind in query.kinds and one.lowest >= least and one.key not in self.apart \
                    and _passes(one, query):
                found.append(by_rules(one, query))
        found.sort(key=lambda one: (-one.bytes_to_win, one.title.casefold()))
        ticked = [member for one in found for member in one.members if member.ticked]
        numbers = sum(one.numbers for one in found)
        related = sum(one.kind is K.RELATED for one in found)
        left = (f"Left alone: {numbers} group where numbers or dates differ and {related} related group."
                if numbers and related else "")
        return DuplicatesView(query, tuple(found), sum(one.bytes_to_win for one in found), len(ticked),
                              sum(one.copy.size for one in ticked), 0 if self.state == "empty" else 8800, 12, left,
                              self.duplicate_notes, 7, 0.02)

    def shared_passages(self, query: DuplicateQuery) -> JobId:
        self.calls.append(("shared_passages", query))
        return self._job("shared-passages", self.shared)

    def compare(self, left: Copy, right: Copy) -> JobId:
        self.calls.append(("compare", left.path, right.path))
        same = left.sha256 == right.sha256
        facts = (("Size", f"{left.size:,} bytes", f"{right.size:,} bytes"), ("Kind", left.format, right.format))
        rows = () if same else _ROWS
        return self._job("compare", ComparisonView(left, right, rows, 0 if same else 5, facts, 4, 4,
                                                   note="The bytes are the same." if same else ""))

    def compare_pages(self, left: Copy, right: Copy, pages: tuple[int | None, int | None], *, width: int) -> JobId:
        self.calls.append(("compare_pages", left.path, right.path, pages))
        return self._job("compare-pages", PagesView(None, None))

    def have(self, path: Path) -> JobId:
        self.calls.append(("have", path))
        lark = HOME / "Documents/Travel/Larkmoor cottage booking terms.pdf"
        usual = HaveView(path, "identical", f"You have this file already: {lark.name}.", ((lark, "", 1.0),),
                         lark.parent)
        return self._job("have", self.have_views.get(path.name, replace(usual, path=path)))

    def not_duplicates(self, one: GroupView, *, undo: bool = False) -> JobId:
        self.calls.append(("not_duplicates", one.key, undo))
        (self.apart.discard if undo else self.apart.add)(one.key)
        return self._job("not-duplicates", None)

    # ---- cleaning

    def clean_up(self, removals: Sequence[Removal], *, dry: bool = False) -> JobId:
        self.calls.append(("clean_up", tuple(removal.victim.path for removal in removals), dry))
        if self.hold_clean_up:
            job = JobId(f"clean-up-held-{len(self.held)}")
            self.held.append((job, lambda: self._clean(removals[: len(removals) // 2], removals)))
            self.say([Started(job, "clean-up"), Progress(job, "Moving to the trash", 11, len(removals),
                                                         removals[0].victim.path.name)])
            return job
        return self._job("clean-up", self._clean(removals, removals))

    def _clean(self, done: Sequence[Removal], planned: Sequence[Removal]) -> CleanUpView:
        files = []
        gone = set()
        for removal in planned:
            path, size = removal.victim.path, removal.victim.size
            why = next((text for part, text in self.refuse.items() if part in path.name), "")
            if removal not in done:
                files.append(MovedView(path, size, "skipped", "Not begun: the clean-up was stopped."))
            elif why:
                files.append(MovedView(path, size, "failed" if "trash" in why else "skipped", why))
            else:
                files.append(MovedView(path, size, "moved", trash=HOME / ".trash" / path.name))
                gone.add(path)
        id = f"c{next(self._clean_up_numbers)}"
        self._moved[id] = self.groups
        self.groups = tuple(one for one in (_less(one, gone) for one in self.groups) if one is not None)
        view = CleanUpView(id, NOW, tuple(files), len(gone), sum(one.state == "skipped" for one in files),
                           sum(one.state == "failed" for one in files),
                           sum(one.size for one in files if one.state == "moved"))
        self.history_rows.insert(0, view)
        return view

    def undo_clean_up(self, id: str, paths: Sequence[Path] = ()) -> JobId:
        self.calls.append(("undo_clean_up", id, tuple(paths)))
        old = next(view for view in self.history_rows if view.id == id)
        files = tuple(replace(one, state="restored", trash=None)
                      if one.state == "moved" and (not paths or one.path in paths) else one for one in old.files)
        new = replace(old, files=files, moved=sum(one.state == "moved" for one in files),
                      bytes=sum(one.size for one in files if one.state == "moved"),
                      undone=not any(one.state == "moved" for one in files))
        self.history_rows[self.history_rows.index(old)] = new
        if not paths and id in self._moved:
            self.groups = self._moved.pop(id)
        return self._job("undo-clean-up", new)

    def clean_ups(self) -> JobId:
        self.calls.append(("clean_ups",))
        return self._job("clean-ups", tuple(self.history_rows))

    def export_duplicates(self, view: DuplicatesView, target: Path) -> JobId:
        self.calls.append(("export_duplicates", view, target))
        return self._job("export", target)


def _passes(one: GroupView, query: DuplicateQuery) -> bool:
    folder, types = query.filters.folder, query.filters.types
    paths = [member.copy.path for member in one.members]
    return (folder is None or all(folder in path.parents for path in paths)) and \
        (not types or all(path.suffix[1:] in types for path in paths))


def _less(one: GroupView, gone: set[Path]) -> GroupView | None:
    left = tuple(member for member in one.members
                 if member.copy.path not in gone and not (member.files and member.files[0].path in gone))
    if len(left) == len(one.members):
        return one
    win = sum(member.copy.size for member in left[1:] if member.may_tick and one.kind not in NEVER_TICKED)
    return replace(one, members=left, key=f"{one.key}'", bytes_to_win=win) if len(left) > 1 else None


def shared() -> tuple[SharedPassage, ...]:
    """Gives passages that stand in several documents."""
    text = "The landlord returns the deposit within thirty days after the keys are handed over."
    places = tuple((HOME / "Documents" / "Home" / f"Tenancy agreement {n}.pdf", "", 3, 900 + n, text)
                   for n in range(1, 4))
    other = tuple((HOME / "Notes" / f"Moving {n}.md", "", None, 950 + n, "Photograph the meters before you hand over "
                   f"the keys, and keep copy number {n}.") for n in range(2))
    return (SharedPassage(places, 0.99), SharedPassage(other, 0.91))
