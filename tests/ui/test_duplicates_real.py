"""The Duplicates page over the whole program: real files, a real trash, a real library."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from sbert_desktop.app import cleaning
from sbert_desktop.app.cleaning import run_clean_up
from sbert_desktop.app.facade import App
from sbert_desktop.domain import JobContext
from sbert_desktop.errors import Cancelled
from sbert_desktop.platform import SystemTrash
from sbert_desktop.settings import Settings
from sbert_desktop.ui.duplicates.have_sheet import HaveSheet
from sbert_desktop.ui.duplicates.page import DuplicatesPage
from sbert_desktop.ui.duplicates.selection import Selection
from sbert_desktop.ui.main_window import MainWindow
from tests.ui.fake_duplicates import group

WINDOW_PAGES = ("search", "duplicates", "library")

pytestmark = pytest.mark.gui

WORDS = ("harbour", "lantern", "meadow", "copper", "violin", "orchard", "thunder", "pebble", "saffron", "glacier")


def prose(seed: int, sentences: int = 12) -> str:
    """Gives a text of its own for every seed."""
    rng = random.Random(seed)
    return "\n".join(
        f"The {rng.choice(WORDS)} of {rng.choice(WORDS)} number{seed} lies by the {rng.choice(WORDS)} and the "
        f"{rng.choice(WORDS)} in the {rng.choice(WORDS)}."
        for _ in range(sentences)
    )


def write(root: Path, files: dict[str, str | bytes]) -> None:
    """Makes files."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def contents(*roots: Path) -> dict[str, list[Path]]:
    """Gives the places of every content below folders."""
    found: dict[str, list[Path]] = {}
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink():
                found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), []).append(path)
    return found


Open = Callable[..., tuple[MainWindow, DuplicatesPage]]


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trash of this test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "Trash" / "files"


@pytest.fixture
def open_page(
    make_window, qtbot, settings: Settings, tmp_path: Path, trash: Path, monkeypatch: pytest.MonkeyPatch
) -> Open:
    """Opens a window over files on the Duplicates page, as they are found."""
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setattr("sbert_desktop.ui.duplicates.page_moving.OWN_SECONDS", 3600.0)  # the machine may stand still

    def open_(files: dict[str, str | bytes] | None, **more) -> tuple[MainWindow, DuplicatesPage]:
        root = tmp_path / "docs"
        root.mkdir(exist_ok=True)
        write(root, files or {})
        app = App(tmp_path / "library", settings)
        window = make_window(app=app, **more)
        window.activateWindow()
        if files is not None:
            known = []
            job = app.add_folders((root,))
            window.desk.bridge.watch(job, on_finished=known.append)
            qtbot.waitUntil(lambda: bool(known), timeout=60_000)
        window.show_page("duplicates")
        page = window.page("duplicates")
        settle(qtbot, page)
        return window, page

    return open_


def settle(qtbot, page: DuplicatesPage) -> None:
    """Waits until nothing is asked and nothing moves."""
    qtbot.waitUntil(
        lambda: page.finder.view is not None and page.finder.job is None and not page.cleaning.busy, timeout=60_000
    )


def titles(page: DuplicatesPage) -> list[str]:
    return [one.title for one in page.finder.view.groups]


def choose(page: DuplicatesPage, title: str) -> None:
    page.column.list.choose([one.title for one in page.column.list.groups_model.groups].index(title))


def press(qtbot, page: DuplicatesPage) -> None:
    """Presses the one button and waits for what becomes of it."""
    page.foot_bar.move_button.click()
    settle(qtbot, page)


def row(page: DuplicatesPage, title: str, place: str):
    """Gives a group and its row by the end of its path."""
    found = next(one for one in page.finder.view.groups if one.title == title)
    return found, next(one for one in found.members if str(one.copy.path).endswith(place))


TWINS: dict[str, str | bytes] = {
    "x/a.txt": prose(1),
    "x/a copy.txt": prose(1),
    "y/a.txt": prose(1),
    "near1.txt": prose(2, 30),
    "near2.txt": prose(2, 30) + "\nOne more sentence stands here.",
    "one/p.txt": prose(7),
    "one/q.bin": b"\0\1\2" * 400,
    "two/p.txt": prose(7),
    "two/q.bin": b"\0\1\2" * 400,
    "alone.txt": prose(99),
}


def test_what_a_hand_unticked_stays_so_under_other_kinds_and_after_a_clean_up(open_page, qtbot, trash: Path) -> None:
    _, page = open_page(TWINS)
    assert page.foot_bar.move_button.label().startswith("Move 4 files")
    page.selection.toggle(*row(page, "a", "x/a.txt"))
    for kinds in ("near", "all"):
        page.show_kinds(kinds)
        settle(qtbot, page)
    assert page.foot_bar.move_button.label().startswith("Move 3 files")
    press(qtbot, page)
    assert sorted(path.name for path in trash.iterdir()) == ["a copy.txt", "p.txt", "q.bin"]
    qtbot.wait(500)
    settle(qtbot, page)
    qtbot.waitUntil(lambda: "a" in titles(page))  # two of its three are left
    assert page.foot_bar.move_button.label() == "Nothing ticked"


def test_what_is_ticked_in_kinds_that_are_not_shown_is_not_moved(open_page, qtbot, tmp_path: Path, trash: Path) -> None:
    _, page = open_page(TWINS)
    page.show_kinds("near")
    settle(qtbot, page)
    assert page.foot_bar.move_button.label() == "Nothing ticked"
    page.selection.toggle(*row(page, "near2", "near1.txt"))
    press(qtbot, page)
    assert [path.name for path in trash.iterdir()] == ["near1.txt"]


def test_after_undo_the_groups_come_back_by_themselves(open_page, qtbot, tmp_path: Path, trash: Path) -> None:
    window, page = open_page(TWINS)
    before = sorted(titles(page))
    press(qtbot, page)
    assert not page.column.stale.isVisible()
    window.toast.run_action()
    qtbot.waitUntil(lambda: sorted(titles(page)) == before, timeout=60_000)
    settle(qtbot, page)
    assert not list(trash.iterdir())
    qtbot.waitUntil(lambda: not page.column.stale.isVisible(), timeout=60_000)
    assert len([path for path in (tmp_path / "docs").rglob("*") if path.is_file()]) == len(TWINS)


def test_a_hard_link_that_stays_frees_nothing_and_the_button_says_so(open_page, qtbot, tmp_path: Path) -> None:
    root = tmp_path / "docs"
    write(root, {"a.txt": prose(1), "b.txt": prose(1)})
    os.link(root / "b.txt", root / "c.txt")
    _, page = open_page({})
    found = page.finder.view.groups[0]
    page.selection.tick_none([found])
    going = next(one for one in found.members if one.copy.path.name in ("b.txt", "c.txt") and one.may_tick)
    kept = next(one for one in found.members if one.copy.path.name == "a.txt")
    assert page.selection.toggle(found, going)
    assert page.selection.total.files == 1
    assert page.selection.total.bytes == 0
    page.selection.toggle(found, going)
    assert page.selection.toggle(found, kept)
    assert page.selection.total.bytes == kept.copy.size


def test_files_that_changed_or_went_meanwhile_are_left_and_told(open_page, qtbot, tmp_path: Path, trash: Path) -> None:
    _, page = open_page(TWINS)
    root = tmp_path / "docs"
    (root / "x/a copy.txt").write_text("something else")
    (root / "two/p.txt").write_text("edited")
    (root / "one/p.txt").unlink()
    page.selection.tick_none([row(page, "a", "x/a.txt")[0]])
    page.selection.toggle(*row(page, "a", "x/a copy.txt"))
    whole = page.selection.total.files
    press(qtbot, page)
    text = page.notice.findChildren(type(page.foot_bar.label))[0].text()
    assert page.notice.isVisible()
    assert f"Moved 1 of {whole} files to the trash" in text
    assert f"{whole - 1} files stayed where they are" in text
    assert [path.name for path in trash.iterdir()] == ["q.bin"]
    assert (root / "x/a copy.txt").read_text() == "something else"


class SlowTrash(SystemTrash):
    """Takes six files, and the seventh only when the clean-up is told to stop."""

    def __init__(self, context: JobContext) -> None:
        self._context = context
        self.taken = 0

    def move(self, path: Path) -> Path | None:
        self.taken += 1
        end = time.monotonic() + 60
        with contextlib.suppress(Cancelled):
            while self.taken == 7 and time.monotonic() < end:
                self._context.check()
                time.sleep(0.01)
        return super().move(path)


def test_a_clean_up_cut_short_by_closing_is_told_at_the_next_start_and_undone(
    open_page, qtbot, tmp_path: Path, trash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trashes: list[SlowTrash] = []

    def run(session, removals, context: JobContext, **more):
        trashes.append(SlowTrash(context))
        return run_clean_up(session, removals, context, trash=trashes[0], **more)

    monkeypatch.setattr(cleaning, "run_clean_up", run)
    window, page = open_page({f"c{number:03}.txt": prose(5) for number in range(120)})
    page.foot_bar.move_button.click()
    qtbot.waitUntil(lambda: bool(trashes) and trashes[0].taken == 7)
    state = window.state()
    window.finish()
    moved = len(list(trash.iterdir()))
    assert moved == 7
    _, again = open_page(None, saved=state)
    qtbot.waitUntil(again.notice.isVisible, timeout=60_000)
    assert f"cut short. Moved {moved} of 119 files to the trash" in again.notice.findChildren(
        type(again.foot_bar.label))[0].text()
    again.cleaning.bring_back("")
    settle(qtbot, again)
    assert not list(trash.iterdir())
    assert len(list((tmp_path / "docs").iterdir())) == 120


def test_several_files_dropped_at_once_are_all_answered(open_page, qtbot, tmp_path: Path) -> None:
    window, page = open_page(TWINS)
    write(tmp_path / "drop", {"a.txt": prose(1), "new.txt": prose(44), "b.txt": prose(7)})
    places = tuple(tmp_path / "drop" / name for name in ("a.txt", "new.txt", "b.txt", "missing.txt"))
    page.ask_have(places)
    sheet = window.findChild(HaveSheet)
    qtbot.waitUntil(lambda: not any(card.bar.isVisible() for card in sheet.cards), timeout=60_000)
    verdicts = [card.view.verdict if card.view is not None else card.said.text() for card in sheet.cards]
    assert verdicts[0] == verdicts[2] == "identical"
    assert verdicts[1] not in ("identical", "same text")
    assert "missing.txt is not there" in verdicts[3]
    sheet.close_sheet(False)


def test_tab_goes_through_the_page_from_the_left_to_the_right_and_down(open_page, qtbot) -> None:
    window, page = open_page(TWINS)
    page.column.list.choose(titles(page).index("near2"))
    qtbot.waitUntil(lambda: page.detail.compare.sides is not None and page.detail.compare.sides.isVisible())
    page.focus_first()
    order: list[str] = []
    while (focus := window.focusWidget()) is not None and focus.objectName() not in order:
        order.append(focus.objectName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    compared = [at for at, name in enumerate(order) if name.startswith("compare")]
    assert compared
    assert order.index("duplicates_members") < min(compared)
    assert max(compared) < order.index("duplicates_keep") < order.index("duplicates_move")


def ticked_group(number: int):
    """Gives a group in which the rules tick all that may go but the one that stays."""
    made = group(number)
    return replace(made, members=tuple(replace(one, ticked=one.may_tick and not one.keep) for one in made.members))


def test_a_click_on_a_group_that_is_no_longer_there_ticks_nothing() -> None:
    old, other = ticked_group(0), ticked_group(1)
    selection = Selection()
    selection.set_groups((old, other))
    selection.set_groups((other,))
    before = selection.total
    assert not selection.toggle(old, old.members[1])
    assert not selection.toggle_group(old)
    assert not selection.tick_all_but_kept(old)
    selection.tick_suggested((old,))
    assert selection.total == before
    assert [one.key for one in selection.ticked_groups()] == [other.key]


def test_a_row_that_a_hand_unticked_is_not_ticked_in_a_group_of_another_key() -> None:
    one = ticked_group(0)
    ticked = [member for member in one.members if member.ticked]
    selection = Selection()
    selection.set_groups((one,))
    assert selection.toggle(one, ticked[0])
    other = replace(one, key="other", members=tuple(row for row in one.members if row is not ticked[1]))
    selection.set_groups((other,))
    assert ticked[0].key not in selection.ticks()
    assert ticked[2].key in selection.ticks()
    selection.tick_suggested((other,))
    assert ticked[0].key in selection.ticks()


def test_ticks_are_not_brought_back_while_files_move() -> None:
    one = ticked_group(0)
    selection = Selection()
    selection.set_groups((one,))
    kept = selection.keep()
    selection.tick_none((one,))
    selection.frozen = True
    selection.bring_back(kept)
    assert selection.total.files == 0
    selection.frozen = False
    selection.bring_back(kept)
    assert selection.total.files == sum(member.ticked for member in one.members)


def test_a_clean_up_that_was_killed_is_told_once(open_page, qtbot, tmp_path: Path, trash: Path) -> None:
    window, page = open_page(TWINS)
    press(qtbot, page)
    window.finish()
    journal = next((tmp_path / "library").glob("cleanups/*.jsonl"))
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))  # as it is when the program ends before the clean-up does
    window, page = open_page(None)
    qtbot.waitUntil(page.notice.isVisible, timeout=60_000)
    assert "The last clean-up was cut short. Moved 4 files to the trash." in page.notice.findChildren(
        type(page.foot_bar.label))[0].text()
    state = window.state()
    window.finish()
    _, page = open_page(None, saved=state)
    qtbot.wait(300)
    settle(qtbot, page)
    assert not page.notice.isVisible()


def test_one_reason_for_all_that_stayed_is_said_at_once(open_page, qtbot, tmp_path: Path) -> None:
    _, page = open_page(TWINS)
    for path in (tmp_path / "docs").rglob("*.txt"):
        os.utime(path, ns=(1, 1))
    page.selection.tick_none([one for one in page.finder.view.groups if one.folders])
    press(qtbot, page)
    text = page.notice.findChildren(type(page.foot_bar.label))[0].text()
    assert text == (
        "Moved 0 of 2 files to the trash. 2 files stayed where they are. It changed since it was compared."
    )
