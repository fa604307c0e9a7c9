"""The result list: rows, order, marks and names, without a window."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sbert_desktop.ui.search.model import Kind, Order, ResultModel
from tests.effort import least_cpu
from tests.ui.search.search_fakes import document, hit, tenancy, view

pytestmark = pytest.mark.gui


@pytest.fixture
def model(qapp) -> ResultModel:  # type: ignore[no-untyped-def]
    made = ResultModel()
    made.set_view(view(tenancy()))
    return made


def kinds(model: ResultModel) -> list[Kind]:
    return [model.row(number).kind for number in range(model.rowCount())]


def test_documents_open_into_their_passages_and_close_again(model: ResultModel) -> None:
    assert kinds(model) == [Kind.DOCUMENT] * 7
    assert model.set_open(0, True)
    assert kinds(model)[:5] == [Kind.DOCUMENT, *[Kind.PASSAGE] * 3, Kind.DOCUMENT]
    assert model.is_last(3)
    assert not model.is_last(0)
    assert model.set_open(2, False)
    assert kinds(model) == [Kind.DOCUMENT] * 7


def test_a_document_with_one_passage_has_nothing_to_open(model: ResultModel) -> None:
    assert not model.set_open(2, True)
    assert model.rowCount() == 7


def test_passages_not_fetched_get_a_row_of_their_own(qapp) -> None:  # type: ignore[no-untyped-def]
    model = ResultModel()
    model.set_view(view([document("a.pdf", [hit("one")], more=4)]))
    assert model.more_at(0) == 4
    model.set_open(0, True)
    assert kinds(model) == [Kind.DOCUMENT, Kind.PASSAGE, Kind.REST]


def test_a_full_list_offers_more_documents(qapp) -> None:  # type: ignore[no-untyped-def]
    model = ResultModel()
    model.set_view(view(tenancy()), limit=7)
    assert kinds(model)[-1] is Kind.FOOTER
    model.set_view(view(tenancy()), limit=8)
    assert kinds(model)[-1] is Kind.DOCUMENT


def test_the_bar_never_contradicts_the_order(qapp) -> None:  # type: ignore[no-untyped-def]
    model = ResultModel()
    scores = (0.4, 0.9, 0.3, 0.35, -0.2)
    model.set_view(view([document(f"{n}.txt", [hit("x", score=score)]) for n, score in enumerate(scores)]))
    bars = [model.bar_at(number) or 0.0 for number in range(5)]
    assert bars == sorted(bars, reverse=True)
    assert all(0 <= bar <= 1 for bar in bars)
    model.sort_by(Order.NAME)
    assert model.bar_at(0) is None


def test_marks_arrive_in_place(model: ResultModel) -> None:
    number = 5  # the invoice has no best sentence yet
    passage = model.document_at(number).hits[0].passage_id
    assert model.snippet_at(number).mark is None
    resets: list[int] = []
    changed: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    model.dataChanged.connect(lambda first, last: changed.append(first.row()))
    model.apply_marks({passage: (0, 9)})
    snippet = model.snippet_at(number)
    assert snippet.mark is not None
    assert snippet.text[slice(*snippet.mark)] == "A deposit"
    assert changed == [number]
    assert not resets
    found = model.hit_at(number)
    assert found is not None
    assert found.best_sentence == (0, 9)


def test_an_answer_of_the_same_order_changes_rows_in_place(model: ResultModel) -> None:
    shown = model.view
    assert shown is not None
    model.set_open(0, True)
    resets: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    first = replace(shown.documents[1], score=0.63)
    assert model.update_view(replace(shown, documents=(shown.documents[0], first, *shown.documents[2:])))
    assert not resets
    assert model.document_at(4).score == 0.63
    turned = replace(shown, documents=tuple(reversed(shown.documents)))
    assert not model.update_view(turned)
    assert not model.same_order(turned)


def test_newest_first_and_by_name(model: ResultModel) -> None:
    model.sort_by(Order.NEWEST)
    dates = [each.date for each in model.documents]
    assert dates == sorted(dates, reverse=True)
    model.sort_by(Order.NAME)
    assert model.documents[0].path.name == "Larkmoor cottage booking terms.pdf"


def test_a_screen_reader_hears_what_the_eye_sees(model: ResultModel) -> None:
    from PySide6.QtCore import Qt

    def said(number: int) -> str:
        return str(model.data(model.index(number), Qt.ItemDataRole.AccessibleTextRole))

    assert "Tenancy agreement Alder Street 14.pdf" in said(0)
    assert "score 0.71" in said(0)
    assert "2 more passages" in said(0)
    assert "changed since it was read" in said(3)
    model.set_open(0, True)
    assert said(2).startswith("Passage 2 of 3, p. 3: Interest earned")


HOSTILE = "<img src=file:///etc/passwd> \u202egpj.exe\n<b>x</b>.txt"


def test_hostile_names_stay_text(qapp) -> None:  # type: ignore[no-untyped-def]
    from PySide6.QtCore import Qt

    model = ResultModel()
    model.set_view(view([document("placeholder.txt", [hit("<b>bold</b> \u202e text", location="<a href=x>y</a>")])]))
    bad = replace(model.documents[0], path=model.documents[0].path.parent / HOSTILE.replace("/", "_"), paths=())
    model.set_view(view([bad]))
    tip = str(model.data(model.index(0), Qt.ItemDataRole.ToolTipRole))
    assert "<img" not in tip
    assert "&lt;img" in tip
    spoken = str(model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole))
    assert "\n" not in spoken
    assert "\u202e" not in spoken


def test_ten_thousand_hits_are_set_at_once(qapp) -> None:  # type: ignore[no-untyped-def]
    documents = [document(f"{n}.txt", [hit("word " * 60, words=())], content=n + 1) for n in range(10_000)]
    big = view(documents)
    model = ResultModel()
    model.set_view(big)
    assert least_cpu(lambda: model.set_view(big), enough=0.05) < 0.05
    assert model.rowCount() == 10_000
