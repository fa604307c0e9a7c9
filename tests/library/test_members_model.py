"""Random reading, moving, captioning and ignoring of containers, against plain dictionaries and a fresh library."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from sbert_desktop.domain import Filters, Problem, SourceFile
from sbert_desktop.library import Library, Writer, open_library

from .makers import RULES, document, embed_all, file_at, info

NAMES = ("a.eml", "b.eml", "a.eml/plan.pdf", "part 1", "notes")
WORDS = ("apple", "brick", "cloud", "door")
BAD = Problem("encrypted", "Locked.", "")


@dataclass
class Entry:
    """What a file or member holds: None is a problem."""

    text: str | None
    ignored: bool = False
    caption: str = ""


@dataclass
class Box:
    """One file on disk; its own entry has the name ``""``."""

    folder: int
    size: int
    entries: dict[str, Entry] = field(default_factory=dict)
    unfinished: bool = False


class Machine:
    def __init__(self, library: Library, writer: Writer, seed: int) -> None:
        self.chance = random.Random(seed)
        self.library, self.writer = library, writer
        self.roots = {writer.add_folder(Path(f"/f{number}")): Path(f"/f{number}") for number in range(2)}
        self.boxes: dict[Path, Box] = {}

    def step(self) -> None:
        work = [self.read, self.read, self.read, self.plain, self.caption, self.caption, self.ignore, self.move]
        self.chance.choice([*work, self.remove, self.relocate, self.embed])()

    def place(self) -> tuple[int, Path]:
        folder = self.chance.choice(list(self.roots))
        return folder, self.roots[folder] / f"{self.chance.choice('xyz')}.zip"

    def box_at(self, path: Path) -> SourceFile:
        return SourceFile(path, self.boxes[path].size, 1)

    def any(self) -> Path | None:
        return self.chance.choice(sorted(self.boxes)) if self.boxes else None

    def put(self, path: Path, box: Box, name: str) -> None:
        text = self.chance.choice([None, *WORDS])
        old = box.entries.get(name)
        same = old is not None and old.text == text
        box.entries[name] = Entry(text, bool(same and old and old.ignored), old.caption if old else "")
        file = replace(file_at(path, text or "sealed"), member=name)
        if text is None:
            self.writer.put(box.folder, file, None, (), (BAD,))  # type: ignore[arg-type]
        else:
            self.writer.put(box.folder, file, *document([text]), ())  # type: ignore[arg-type]

    def read(self) -> None:
        folder, path = self.place()
        box = self.boxes.setdefault(path, Box(folder, 1))
        own = box.entries.setdefault("", Entry("", False))
        size = self.chance.randrange(1, 4)
        own.ignored, box.size = own.ignored and size == box.size, size
        self.writer.begin_container(box.folder, self.box_at(path))  # type: ignore[arg-type]
        box.unfinished = True
        seen = self.chance.sample(NAMES, self.chance.randrange(1, 4))
        for name in seen:
            self.put(path, box, name)
            if self.chance.random() < 0.2:
                self.writer.commit()
        if self.chance.random() < 0.2:
            return  # killed here
        box.unfinished, grown = False, self.chance.random() < 0.3
        problems = [BAD] if self.chance.random() < 0.3 else []
        own.text = None if problems else ""
        self.writer.finish_container(box.folder, self.box_at(path), None, (), problems, grown=grown)  # type: ignore[arg-type]
        if not grown:
            box.entries = {name: entry for name, entry in box.entries.items() if not name or name in seen}

    def plain(self) -> None:
        folder, path = self.place()
        box = self.boxes.setdefault(path, Box(folder, 1))
        own = box.entries.get("")
        box.entries = {"": own} if own else {}
        box.unfinished = False
        text = self.chance.choice(WORDS)
        box.size = len(text)
        # An ignored file stays so when nothing about it changed; here its time is another one each time.
        box.entries[""] = Entry(text, False, own.caption if own else "")
        file = replace(file_at(path, text), mtime_ns=self.chance.randrange(10**15))
        self.writer.put(box.folder, replace(file, content_hash=f"{text}{file.mtime_ns}"), *document([text]), ())  # type: ignore[arg-type]

    def caption(self) -> None:
        path = self.any()
        if path is not None:
            name = self.chance.choice(sorted(self.boxes[path].entries))
            text = self.chance.choice(["", "door of mine", "cloud of mine"])
            extracted, passages = document([text])
            self.writer.put_caption(path, name, extracted if text else None, passages)
            self.boxes[path].entries[name].caption = text

    def ignore(self) -> None:
        path = self.any()
        if path is not None:
            ignored = self.chance.random() < 0.7
            self.writer.set_ignored([path], ignored)
            for entry in self.boxes[path].entries.values():
                entry.ignored = ignored and (entry.ignored or entry.text is None)

    def known(self, path: Path) -> int:
        self.writer.commit()
        return self.library.known_files(self.boxes[path].folder)[os.fsencode(path)].id  # type: ignore[arg-type]

    def move(self) -> None:
        path = self.any()
        folder, target = self.place()
        if path is not None and path != target:
            box = self.boxes[path]
            self.writer.move(self.known(path), replace(self.box_at(path), path=target), folder)  # type: ignore[arg-type]
            del self.boxes[path]
            box.folder = folder
            self.boxes[target] = box

    def remove(self) -> None:
        path = self.any()
        if path is not None:
            self.writer.remove([self.known(path)])  # type: ignore[list-item]
            del self.boxes[path]

    def relocate(self) -> None:
        folder = self.chance.choice(list(self.roots))
        old, new = self.roots[folder], Path(f"/g{folder}/{self.chance.randrange(3)}")
        self.writer.relocate_folder(folder, new)  # type: ignore[arg-type]
        self.roots[folder] = new
        self.boxes = {new / p.relative_to(old) if b.folder == folder else p: b for p, b in self.boxes.items()}

    def embed(self) -> None:
        embed_all(self.writer)


def check(library: Library, machine: Machine) -> None:
    entries = [(path, name, entry) for path, box in machine.boxes.items() for name, entry in box.entries.items()]
    counts = library.counts()
    assert counts.documents == sum(bool(entry.text) for _, _, entry in entries)
    assert counts.problems == sum(entry.text is None and not entry.ignored for _, _, entry in entries)
    assert counts.ignored == sum(entry.text is None and entry.ignored for _, _, entry in entries)
    for path, name, entry in entries:
        content = library.content_at(path, name)
        assert (library.text_of(content).text if content else "") == (entry.text or "")
        assert library.caption_of(path, name) == entry.caption
    known = {path: file for folder in machine.roots for path, file in library.known_files(folder).items()}  # type: ignore[arg-type]
    assert {Path(os.fsdecode(path)): file.size for path, file in known.items()} == {
        path: -1 if box.unfinished else box.size for path, box in machine.boxes.items()
    }
    snapshot = library.snapshot("fake-1")
    for word in WORDS:
        wanted = {(path, entry.text) for path, _, entry in entries if entry.text == word}
        wanted |= {(path, entry.caption) for path, _, entry in entries if word in entry.caption.split()}
        found = snapshot.fetch(snapshot.keyword(word, None, 1000)[0].tolist()).values()
        assert {(place.path, record.text) for record in found for place in record.paths} == wanted
    with open_library(library.path) as fresh:
        assert (fresh.counts(), fresh.folders(), fresh.formats()) == (counts, library.folders(), library.formats())
        for kind in ("eml", "pdf", "zip"):
            masks = [lib.snapshot("fake-1").select(Filters(types=(kind,))) for lib in (fresh, library)]
            one, other = ({int(content) for content in mask.nonzero()[0]} for mask in masks if mask is not None)
            assert one == other


@pytest.mark.parametrize("seed", range(4))
def test_containers_are_what_the_model_says_and_a_fresh_library_agrees(tmp_path: Path, seed: int) -> None:
    with open_library(tmp_path / "library") as library, library.writer() as writer:
        writer.use_space(info(), "tokenizer", RULES)
        machine = Machine(library, writer, seed)
        for number in range(80):
            machine.step()
            if number % 4 == 0:
                writer.commit()
                check(library, machine)
        writer.commit()
        assert not {key: value for key, value in library.integrity().items() if key.startswith("bad_") and value}
