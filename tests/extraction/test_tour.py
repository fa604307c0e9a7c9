"""The shared collection of real files: what must be found in them, and what must not happen."""

from __future__ import annotations

import csv
import resource
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Listing, Problem, SplitRules
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import SUPPORTED, ExtractionPool, extract, split
from tests.extraction.conftest import Context, NearChild, ScriptChild, WordTokenizer, source
from tests.extraction.test_pdf import assert_runs_point_at_their_characters
from tests.extraction.test_split import assert_sound


def documents(path: Path) -> list[ExtractedText]:
    """Reads a file as the program does: its text, or those of all its members."""
    pool = ExtractionPool(NearChild, 1)
    outcomes = [outcome for _, outcome in pool.results([source(path)], Context())]
    pool.close()
    own = [outcome.document for outcome in outcomes if isinstance(outcome, Listing) and outcome.document is not None]
    return own + [outcome for outcome in outcomes if isinstance(outcome, ExtractedText)]


def folded(text: str, *, tight: bool) -> str:
    import unicodedata

    text = unicodedata.normalize("NFKC", text).translate(str.maketrans("’‘“”", "''\"\""))
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return ("" if tight else " ").join(text.split()).casefold()


def test_known_phrases_of_every_format_are_found(shared_data: Path) -> None:
    missed, checked = [], 0
    with (shared_data / "tour_expected.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["format"] not in SUPPORTED or row["mode"] == "ocr":
                continue
            checked += 1
            tight = row["language"] in {"zh", "ja", "th", "multi"}
            found = documents(shared_data / "tour" / row["file"])
            text = folded("\n".join(document.text for document in found), tight=tight)
            missed += [f"{row['file']}: {phrase}" for key in ("key_phrase_1", "key_phrase_2")
                       if (phrase := row[key]) and folded(phrase, tight=tight) not in text]
    assert not missed
    assert checked >= 41


def test_a_scan_says_that_it_has_no_text(shared_data: Path) -> None:
    with pytest.raises(ExtractionError) as caught:
        extract(shared_data / "tour" / "Scans" / "linn.pdf")
    assert caught.value.code == "no-text-layer"


@pytest.mark.parametrize("name", ["multi-column-2p.pdf", "tracemonkey.pdf"])
def test_runs_of_real_papers_point_at_their_characters(shared_data: Path, name: str) -> None:
    path = shared_data / "tour" / "Papers" / name
    document = extract(path)
    assert assert_runs_point_at_their_characters(document, path.read_bytes()) > 0.9 * len(document.text)


def test_two_column_papers_are_read_column_by_column(shared_data: Path) -> None:
    text = extract(shared_data / "tour" / "Papers" / "multi-column-2p.pdf").text
    assert "relies on efficient passage retrieval to select candidate contexts" in text
    order = ["Abstract", "1 Introduction", "Retrieval in open-domain QA is usually implemented",
             "2 Background", "3 Dense Passage Retriever (DPR)", "3.1 Overview"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_every_readable_file_splits_without_losing_text(shared_data: Path) -> None:
    words, rules = WordTokenizer(), SplitRules(max_tokens=120, overlap_tokens=20, context="title+heading")
    for path in sorted((shared_data / "tour").rglob("*")):
        if path.suffix[1:].lower() in SUPPORTED and "Scans" not in path.parts:
            found = documents(path)
            assert found, path.name
            for document in found:
                assert_sound(document, rules, split(document, rules, words), words)


def processor_time_of_children() -> float:
    """Gives the seconds of all children that have ended: those that still hung would count when they are closed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_hostile_files_hurt_nobody(shared_data: Path) -> None:
    folder = shared_data / "hostile"
    files = [source(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    pool = ExtractionPool(ScriptChild, 2)
    began = processor_time_of_children()
    found = {str(file.path.relative_to(folder)): outcome
             for file, outcome in pool.results(files, Context()) if not file.member}
    pool.close()
    assert processor_time_of_children() - began < 60  # some 4 s
    assert len(found) == len(files)
    codes = {name: outcome.code for name, outcome in found.items() if isinstance(outcome, Problem)}
    assert codes["encrypted/encrypted.docx"] == codes["encrypted/r4-user-password.pdf"] == "encrypted"
    assert codes["zero/zero.txt"] == "empty"
    assert codes["wrong names/program.txt"] == codes["broken epub/image.epub"] == "unknown-type"
    assert codes["broken pdf/header-only.pdf"] == "damaged"
    assert "timed-out" not in codes.values()
    page = found["xml attacks/xxe-http.html"]
    assert isinstance(page, ExtractedText)
    assert "Visible paragraph about gardening" in page.text
    assert "document.title" not in page.text
    assert isinstance(found["encrypted/r3-empty-password.pdf"], ExtractedText)
