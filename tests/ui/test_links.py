"""The pages linked: documents go from one to another, the map hears what was found and chosen, chips lead back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from sbert_desktop.app.views import CollectionItem, CollectionView
from sbert_desktop.domain import Filters, JobId, Query
from sbert_desktop.settings import Settings
from sbert_desktop.ui.collections.collect_sheet import CollectSheet
from sbert_desktop.ui.collections.name_sheet import NameSheet
from sbert_desktop.ui.duplicates.menus import contents_of
from sbert_desktop.ui.main_window import MainWindow
from sbert_desktop.ui.page import Page
from sbert_desktop.ui.pages import PAGES
from tests.ui.fake_app import HOME, NOW, FakeApp, documents
from tests.ui.fake_duplicates import folder_group

pytestmark = pytest.mark.gui
OF_MAP = "3 documents of the map"


class Receiver(Page):
    """Stands for a page that takes documents."""

    def __init__(self, desk) -> None:
        super().__init__(desk)
        self.taken: list[tuple[tuple[int, ...], str]] = []

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        self.taken.append((contents, label))


class MapReceiver(Receiver):
    key: ClassVar[str] = "map"
    title: ClassVar[str] = "Map"
    icon: ClassVar[str] = "map"


class ClustersReceiver(Receiver):
    key: ClassVar[str] = "clusters"
    title: ClassVar[str] = "Clusters"
    icon: ClassVar[str] = "clusters"


class Linked(FakeApp):
    """Keeps whole documents, too."""

    def collect_documents(self, name: str, contents: Sequence[int], *, note: str = "") -> JobId:
        self.calls.append(("collect_documents", name, tuple(contents)))
        items = tuple(CollectionItem(900 + n, HOME / f"{n}.txt", "", f"{n}", "first words", None, note, NOW, n, n)
                      for n in contents)
        self.kept = (*(view for view in self.kept if view.name != name), CollectionView(name, "", items))
        return self._job("collections", self.kept)


STAND_INS = {"map": "MapReceiver", "clusters": "ClustersReceiver"}
SPECS = tuple(replace(spec, module=__name__, class_name=STAND_INS.get(spec.key, spec.class_name), needs="")
              if spec.key in STAND_INS else spec for spec in PAGES if spec.key not in ("train", "settings"))


def made(qtbot, settings: Settings, tmp_path, specs=SPECS) -> Iterator[MainWindow]:
    settings.set("appearance.reduce_motion", True)
    window = MainWindow(tmp_path / "library", pages=specs)
    window.resize(1280, 800)
    window.show()
    program = Linked(settings, state="kept")
    with qtbot.waitSignal(window.ready):
        window.connect_program(program)
    qtbot.waitUntil(lambda: window.desk.shelf.known)
    yield window
    window.finish()
    program.close()
    window.deleteLater()


@pytest.fixture
def window(qtbot, settings: Settings, tmp_path) -> Iterator[MainWindow]:
    """A window with stand-ins for the map and the clusters."""
    yield from made(qtbot, settings, tmp_path)


@pytest.fixture
def unlinked(qtbot, settings: Settings, tmp_path) -> Iterator[MainWindow]:
    """A window without these pages."""
    yield from made(qtbot, settings, tmp_path, tuple(spec for spec in SPECS if spec.key not in STAND_INS))


def searched(window: MainWindow, qtbot, words: str = "deposit"):
    window.search_for(words)
    page = window.page("search").page
    qtbot.waitUntil(lambda: page.session.settled)
    return page


def queries(window: MainWindow) -> list[Query]:
    return [call[1] for call in window.commands.calls if call[0] == "search"]


def duplicates(window: MainWindow, qtbot):
    window.show_page("duplicates")
    page = window.page("duplicates")
    qtbot.waitUntil(lambda: page.finder.view is not None and page.finder.job is None)
    return page


def action(window: MainWindow, name: str):
    """Gives a command of the palette that would do something now."""
    found = [each for _, each in window.actions_by_group() if each.name == name]
    return found[0] if found and (found[0].enabled is None or found[0].enabled()) else None


def menu_texts(window: QWidget, name: str) -> list[str]:
    found = next(each for each in window.findChildren(QMenu, name) if each.isVisible())
    texts = [each.text().partition("\t")[0] for each in found.actions() if each.isEnabled() and not each.isSeparator()]
    found.close()
    return texts


IDS = tuple(each.content_id for each in documents())

# ---------------------------------------------------------------- search


def test_search_looks_only_among_the_documents_taken_until_the_chip_is_cleared(window, qtbot) -> None:
    page = searched(window, qtbot)
    page.filters.set_filters(Filters(types=("pdf",)))
    window.show_page("library")
    window.desk.go_with("search", (3, 4, 5), OF_MAP)
    assert window.current_page() == "search"
    assert page.query.text() == "deposit"
    chip = page.filters.among_chip
    assert chip.isVisible()
    assert chip.accessibleName() == f"Only: {OF_MAP}"
    qtbot.waitUntil(lambda: page.session.settled)
    # another filter would hide some of those that were chosen
    assert queries(window)[-1].filters == Filters(contents=(3, 4, 5), contents_label=OF_MAP)
    page.filters._change(types=("md",))
    page.run("keys type:pdf")
    qtbot.waitUntil(lambda: page.session.settled)
    assert queries(window)[-1].filters == Filters(types=("md",), contents=(3, 4, 5), contents_label=OF_MAP)
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(chip, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: page.session.settled)
    assert queries(window)[-1].filters == Filters(types=("md",))
    assert not chip.isVisible()
    assert page.filters.isAncestorOf(QApplication.focusWidget() or window)


def test_nothing_found_among_chosen_documents_says_so_and_leads_out(window, qtbot) -> None:
    window.desk.go_with("search", (3, 4, 5), OF_MAP)
    page = searched(window, qtbot, "nothing")
    state = page.stack.empty_filters
    assert page.stack.currentWidget() is state
    assert state.title.text() == "Nothing found among these documents"
    assert OF_MAP in state.sentence.text()
    assert page.filters.among_chip.isVisible()
    state.button.click()
    qtbot.waitUntil(lambda: page.session.settled)
    assert not queries(window)[-1].filters


def test_what_was_similar_gives_way_to_a_search_among_documents(window, qtbot) -> None:
    page = window.page("search").page
    window.show_page("search")
    page.search_like("a text of the person's own that is to be found again")
    qtbot.waitUntil(lambda: page.session.settled)
    assert window.desk.found_query.like
    assert window.desk.found_query.text == ""
    window.desk.go_with("search", (3,), "one")
    assert page.session.like == ""
    assert not page.filters.similar_chip.isVisible()


def test_the_map_hears_what_is_found_once_for_each_answer(window, qtbot) -> None:
    heard: list[tuple[int, ...]] = []
    desk = window.desk
    desk.foundChanged.connect(lambda: heard.append(desk.found_contents))
    page = searched(window, qtbot)
    assert heard == [IDS]
    assert desk.found_query.text == "deposit"
    assert desk.found_query.parsed == page.model.view.parsed
    searched(window, qtbot, "nothing")
    assert heard[1:] == [()]
    assert desk.found_query.text == "nothing"
    page.query.edit.clear()
    page.session.type_text("")
    assert desk.found_query is None
    assert len(heard) == 3


def test_the_map_hears_which_results_are_chosen(window, qtbot) -> None:
    heard: list[tuple[str, tuple[int, ...]]] = []
    window.desk.chosenChanged.connect(lambda page, contents: heard.append((page, contents)))
    page = searched(window, qtbot)
    assert heard[-1] == ("search", IDS[:1])
    page.list.choose(next(n for n in range(page.model.rowCount()) if page.model.row(n).document == 1))
    assert heard[-1] == ("search", IDS[1:2])
    page.list.selectAll()
    assert heard[-1] == ("search", IDS)


def test_results_go_to_the_map_and_to_the_clusters(window, qtbot) -> None:
    assert action(window, "search_results_on_map") is None  # nothing is found yet
    page = searched(window, qtbot)
    on_map = action(window, "search_results_on_map")
    assert (on_map.text, on_map.icon) == ("Show results on the map", "map")
    on_map.run()
    assert window.current_page() == "map"
    assert window.page("map").taken == [(IDS, f"{len(IDS)} documents found for “deposit”")]
    window.show_page("search")
    action(window, "search_results_themes").run()
    assert window.page("clusters").taken[0][0] == IDS
    window.show_page("search")
    page.list.choose(next(n for n in range(page.model.rowCount()) if page.model.row(n).document == 2))
    assert page.list.row.on_map.text() in [each.text() for each in page.list.make_menu().actions()]
    page.list.row.on_map.trigger()
    assert window.page("map").taken[-1] == (IDS[2:3], documents()[2].path.name)
    page.list.selectAll()
    page.list.row.on_map.trigger()
    assert window.page("map").taken[-1][0] == IDS


def test_without_a_map_nothing_offers_it(unlinked, qtbot) -> None:
    window = unlinked
    page = searched(window, qtbot)
    duplicate_page = duplicates(window, qtbot)
    window.show_page("search")
    names = {each.name for _, each in window.actions_by_group()}
    assert not names & {"search_on_map", "search_results_on_map", "search_results_themes", "go_map"}
    assert page.list.row.on_map not in page.list.row.offered()
    window.show_page("duplicates")
    assert not {each.name for _, each in window.actions_by_group()} & {"duplicates_on_map"}
    duplicate_page.show_menu(window.mapToGlobal(QPoint(50, 50)))
    assert "Show on the map" not in menu_texts(window, "duplicates_menu")
    collections = window.page("collections")
    assert not {text for _, text, _ in collections.menu_entries("Deposit")} & {"Show on the map", "Themes of these"}
    window.desk.go_with("map", IDS, "all of them")
    assert window.current_page() == "duplicates"


# ---------------------------------------------------------------- saved searches


def test_a_search_among_chosen_documents_is_not_saved_but_the_way_out_is_offered(window, qtbot) -> None:
    window.desk.go_with("search", (3, 4, 5), OF_MAP)
    searched(window, qtbot)
    action(window, "save_search").run()
    sheet = window.findChild(NameSheet, "name_sheet")
    assert sheet is None or not sheet.isVisible()
    assert window.toast.label.full_text() == (f"A saved search cannot hold {OF_MAP}. Save these as a collection first, "
                                              "then search in it.")
    window.toast.run_action()
    collect = window.findChild(CollectSheet, "collect_sheet")
    assert collect.isVisible()
    assert collect.title.text() == "Add 3 documents to a collection"
    assert collect.what.full_text() == OF_MAP
    collect.edit.setText("From the map")
    collect.add.click()
    qtbot.waitUntil(lambda: window.desk.shelf.collection("From the map") is not None)
    assert ("collect_documents", "From the map", (3, 4, 5)) in window.commands.calls
    qtbot.waitUntil(lambda: window.toast.label.full_text() == "Added 3 documents to From the map")
    window.toast.run_action()
    qtbot.waitUntil(lambda: window.desk.shelf.collection("From the map") is None)


# ---------------------------------------------------------------- duplicates


def test_duplicates_are_looked_for_only_among_the_documents_taken(window, qtbot) -> None:
    page = duplicates(window, qtbot)
    page.show_view("passages")
    window.show_page("search")
    window.desk.go_with("duplicates", (3, 4, 5), OF_MAP)
    assert window.current_page() == "duplicates"
    qtbot.waitUntil(lambda: page.finder.job is None)
    asked = [call[1] for call in window.commands.calls if call[0] == "duplicates"]
    assert asked[-1].filters == Filters(contents=(3, 4, 5), contents_label=OF_MAP)
    chip = page.column.filters.among_chip
    assert page.stack.currentWidget() is page.files
    assert chip.isVisible()
    assert chip.accessibleName() == f"Only: {OF_MAP}"
    page.column.filters._toggle(("pdf",), True)
    qtbot.waitUntil(lambda: page.finder.job is None)
    assert page.finder.view.query.filters == Filters(types=("pdf",), contents=(3, 4, 5), contents_label=OF_MAP)
    chip.cleared.emit()
    qtbot.waitUntil(lambda: page.finder.job is None)
    assert page.finder.view.query.filters == Filters(types=("pdf",))
    assert not chip.isVisible()


def test_no_duplicates_among_chosen_documents_says_so_and_leads_out(window, qtbot) -> None:
    page = duplicates(window, qtbot)
    window.commands.groups = ()
    window.desk.go_with("duplicates", (3, 4, 5), OF_MAP)
    qtbot.waitUntil(lambda: page.finder.job is None)
    assert OF_MAP in page.detail.none.sentence.text()
    page.detail.none.button.click()
    qtbot.waitUntil(lambda: page.finder.job is None)
    assert not page.finder.view.query.filters


def test_documents_taken_are_compared_though_a_large_library_is_not_by_itself(window, qtbot, monkeypatch) -> None:
    monkeypatch.setattr("sbert_desktop.ui.duplicates.page.SMALL", -1)
    window.desk.go_with("duplicates", (3, 4, 5), OF_MAP)
    page = window.page("duplicates")
    qtbot.waitUntil(lambda: page.finder.view is not None)
    assert page.finder.view.query.filters.contents == (3, 4, 5)


def test_a_group_goes_to_the_map_and_into_a_collection(window, qtbot) -> None:
    heard: list[tuple[str, tuple[int, ...]]] = []
    window.desk.chosenChanged.connect(lambda key, contents: heard.append((key, contents)))
    page = duplicates(window, qtbot)
    group = next(each for each in page.column.list.groups_model.groups if len(contents_of(each)) > 1)
    page.column.list.choose(page.column.list.groups_model.groups.index(group))
    contents = contents_of(group)
    assert heard[-1] == ("duplicates", contents)
    page.show_menu(window.mapToGlobal(QPoint(50, 50)))
    assert {"Show on the map", "Save group as collection..."} <= set(menu_texts(window, "duplicates_menu"))
    action(window, "duplicates_on_map").run()
    assert window.current_page() == "map"
    assert window.page("map").taken == [(contents, f"{len(contents)} documents of the group {group.title}")]
    window.show_page("duplicates")
    action(window, "duplicates_collect").run()
    sheet = window.findChild(CollectSheet, "collect_sheet")
    sheet.edit.setText("Twins")
    sheet.add.click()
    qtbot.waitUntil(lambda: window.desk.shelf.collection("Twins") is not None)
    assert ("collect_documents", "Twins", contents) in window.commands.calls


def test_a_folder_is_taken_with_all_that_it_holds_and_a_file_without_text_is_none() -> None:
    group = folder_group()
    assert contents_of(group) == tuple(range(500, 512))
    bare = replace(group.members[0], files=(), copy=replace(group.members[0].copy, content=0))
    assert contents_of(replace(group, members=(bare,))) == ()
    assert contents_of(None) == ()


# ---------------------------------------------------------------- collections


def test_a_collection_goes_to_the_map_and_to_the_clusters(window, qtbot) -> None:
    heard: list[tuple[str, tuple[int, ...]]] = []
    window.desk.chosenChanged.connect(lambda key, contents: heard.append((key, contents)))
    window.show_page("collections")
    page = window.page("collections")
    page.show_collection("Deposit")
    assert heard[-1] == ("collections", (31,))
    entries = {text: run for _, text, run in page.menu_entries("Deposit")}
    entries["Show on the map"]()
    assert window.current_page() == "map"
    held = tuple(item.content_id for item in window.desk.shelf.collection("Deposit").items if item.content_id)
    assert held == (31, 42, 53)  # the fourth is gone from the library
    assert window.page("map").taken == [(held, "3 documents of Deposit")]
    window.show_page("collections")
    action(window, "collection_clusters").run()
    assert window.page("clusters").taken == [(held, "3 documents of Deposit")]
    window.show_page("collections")
    page._on_menu(window.mapToGlobal(QPoint(50, 50)))
    assert {"Show on the map", "Themes of these"} <= set(menu_texts(window, "collection_items_menu"))
    page.table.selectRow(1)
    page._take("map", page._chosen(), "chosen in a collection")
    assert window.page("map").taken[-1] == ((42,), "1 document chosen in a collection")
    assert not {text for _, text, _ in page.menu_entries("Empty")} & {"Show on the map", "Themes of these"}
