"""The sample library: what it promises to hold, that it is ours, and that its files are made anew byte for byte."""

from __future__ import annotations

import email
import email.policy
import importlib.util
import re
import sys
import zipfile
from collections import Counter
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "resources" / "sample"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@pytest.fixture(scope="module")
def make_sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sample", ROOT / "packaging" / "make_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_sample"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def files() -> list[Path]:
    return sorted(path for path in SAMPLE.rglob("*") if path.is_file())


def text_of(path: Path) -> str:
    """Reads a document in a second way, independent of the program's own extraction."""
    if path.suffix == ".pdf":
        import pypdfium2

        document = pypdfium2.PdfDocument(path)
        text = "\n".join(page.get_textpage().get_text_range() for page in document)
        document.close()
        return text
    if path.suffix == ".docx":
        with zipfile.ZipFile(path) as archive:
            tree = ElementTree.fromstring(archive.read("word/document.xml"))
        return "\n".join("".join(p.itertext()) for p in tree.iter(f"{WORD}p"))
    if path.suffix == ".eml":
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        body = message.get_body(("plain", "html"))
        assert body is not None
        return f"{message['subject']}\n{re.sub('<[^>]+>', ' ', body.get_content())}"
    text = path.read_text(encoding="utf-8")
    return re.sub("<[^>]+>", " ", text) if path.suffix == ".html" else text


def test_about_forty_documents_on_eight_topics_in_six_formats() -> None:
    topics = {path.relative_to(SAMPLE).parts[0] for path in files()}
    formats = Counter(path.suffix for path in files())
    assert len(topics) == 8
    assert set(formats) == {".txt", ".md", ".html", ".pdf", ".docx", ".eml"}
    assert min(formats.values()) >= 5
    assert 38 <= len(files()) <= 45


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_each_document_has_text_of_a_short_document(path: Path) -> None:
    assert 80 <= len(text_of(path).split()) <= 450


def test_generated_files_are_the_committed_ones(make_sample: ModuleType) -> None:
    made = make_sample.make_all()
    assert len(made) == 16
    assert {path for path in files() if path.suffix in (".pdf", ".docx")} == set(made)
    assert not [target.name for target, data in made.items() if target.read_bytes() != data]


def test_generated_files_hold_every_word_of_their_source(make_sample: ModuleType) -> None:
    for source in sorted(make_sample.SOURCES.rglob("*.txt")):
        document = make_sample.read(source)
        wanted = " ".join([document.title, *(text for page in document.pages for _, text in page)])
        found = text_of(SAMPLE / source.relative_to(make_sample.SOURCES).with_suffix(""))
        assert not Counter(wanted.split()) - Counter(found.split()), source.name


def test_word_files_are_whole_and_dated() -> None:
    for path in files():
        if path.suffix == ".docx":
            with zipfile.ZipFile(path) as archive:
                assert archive.testzip() is None
                parts = {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}
            assert {"[Content_Types].xml", "_rels/.rels", "word/document.xml", "docProps/core.xml"} <= set(parts)
            created = parts["docProps/core.xml"].findtext("{http://purl.org/dc/terms/}created") or ""
            assert datetime.fromisoformat(created).year >= 2019


def test_mails_are_dated_and_have_a_subject() -> None:
    for path in files():
        if path.suffix == ".eml":
            message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            assert message["subject"]
            assert parsedate_to_datetime(message["date"]).year >= 2023
            assert not message.defects


def test_copies_and_versions_are_there_for_the_duplicates_page() -> None:
    contents = Counter(path.read_bytes() for path in files())
    assert sorted(contents.values())[-2:] == [1, 2]
    first, second = (text_of(SAMPLE / "tenancy" / f"Letter to the landlord v{n}.docx") for n in (1, 2))
    shared = set(first.splitlines()) & set(second.splitlines())
    assert first != second
    assert len(shared) >= 4


def ngrams(text: str, n: int = 8) -> set[int]:
    """Gives the hashes of all runs of n words."""
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {hash(tuple(words[i : i + n])) for i in range(len(words) - n + 1)}


def test_no_sentence_stands_in_the_shared_data(shared_data: Path) -> None:
    ours = {gram for path in files() for gram in ngrams(text_of(path))}
    assert len(ours) > 5000
    shared = []
    for path in shared_data.rglob("*"):
        if path.is_file() and path.suffix in (".txt", ".csv", ".jsonl", ".md", ".html", ".eml", ".tsv"):
            both = ours & ngrams(path.read_text(encoding="utf-8", errors="replace"))
            if both:
                shared.append(path.relative_to(shared_data).as_posix())
    assert not shared


def test_the_comparison_sees_a_copied_sentence() -> None:
    sentence = "The quick grey heron stood on one leg beside the weir all morning."
    assert ngrams(f"Before. {sentence} After.") & ngrams(sentence)
