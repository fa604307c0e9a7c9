"""Contents inside the writer's transaction: each text once, whatever files have it, and cut for each segmentation."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence

from sbert_desktop.domain import ContentId, ExtractedText, Passage, Problem, SourceFile
from sbert_desktop.library import _analysis, _erasing, _text, _units, _words
from sbert_desktop.library._changes import Change
from sbert_desktop.library._columns import pack_lengths
from sbert_desktop.library._erasing import Removed
from sbert_desktop.library._files import stat_values
from sbert_desktop.library._open_spaces import OpenSpaces


class Contents:
    """Changes rows of contents and what is made of them: texts, passages, words.

    Attributes:
        keep_words: Whether erased passages stay in the keyword tables, which are then made anew at the end.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        changes: set[tuple[Change, int]],
        spaces: OpenSpaces,
        extractor_version: int,
    ) -> None:
        self.keep_words = False
        self._connection = connection
        self._changes = changes
        self._spaces = spaces
        self._version = extractor_version

    def put(self, file: SourceFile, text: ExtractedText | None, passages: Sequence[Passage]) -> ContentId | None:
        """Gives the content of a file, put into the catalog when it is new; None where it is unknown and unread.

        Args:
            file: ``content_hash`` names its bytes.
            text: What was read; None: only what is known already.
            passages: The text, cut by the rules of the active space.
        """
        sha256 = file.content_hash
        if text is not None and not sha256:
            sha256 = "text:" + hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).hexdigest()
        version = self._version
        row = self._connection.execute(
            "SELECT id FROM content WHERE sha256=? AND extractor_version=?", (sha256, version)
        ).fetchone()
        if row is None and text is None:
            return None
        if row is not None:
            content = ContentId(row[0])
        else:
            assert text is not None
            content = _text.insert(self._connection, sha256, version, text)
        self._changes.add((Change.CONTENT, content))
        if text is not None and not self._is_segmented(content):
            self._insert_passages(content, text, passages, self._spaces.get().row.segmentation)
        return content

    def problems(self, content: ContentId) -> tuple[Problem, ...]:
        """Gives what was not read of a known content."""
        stored = self._connection.execute("SELECT problems FROM content WHERE id=?", (content,)).fetchone()
        return _text.unpack_problems(stored[0])

    def uncut(self, segmentation: int) -> list[ContentId]:
        """Lists contents without passages in a segmentation, newest first."""
        rows = self._connection.execute(
            "SELECT id FROM content WHERE id NOT IN (SELECT content FROM segmented WHERE segmentation=?)"
            " ORDER BY id DESC",
            (segmentation,),
        )
        return [ContentId(row[0]) for row in rows]

    def cut(self, content: ContentId, passages: Sequence[Passage], segmentation: int) -> None:
        """Puts the passages of a known text for a segmentation, in the place of any there."""
        text = _text.read_record(self._connection, content)
        if text is None:
            return
        self._note_dead(_erasing.erase_passages(self._connection, [content], segmentation), segmentation)
        self._insert_passages(content, text, passages, segmentation)

    def freshen(self, content: ContentId, file: SourceFile) -> None:
        """Notes how new a file of a content is: what is newest is encoded first."""
        self._connection.execute(
            "UPDATE todo SET mtime_ns=max(mtime_ns, ?) WHERE content=?", (stat_values(file)[1], content)
        )

    def forget(self, contents: Iterable[int]) -> None:
        """Erases those of the contents that no file has any more."""
        orphans = [
            content
            for content in dict.fromkeys(contents)
            if self._connection.execute("SELECT 1 FROM file WHERE content=? LIMIT 1", (content,)).fetchone() is None
        ]
        if orphans:
            self._note_dead(_erasing.erase_contents(self._connection, orphans, words=not self.keep_words))

    def _is_segmented(self, content: ContentId) -> bool:
        segmentation = self._spaces.get().row.segmentation
        return (
            self._connection.execute(
                "SELECT 1 FROM segmented WHERE segmentation=? AND content=?", (segmentation, content)
            ).fetchone()
            is not None
        )

    def _insert_passages(
        self, content: ContentId, text: ExtractedText, passages: Sequence[Passage], segmentation: int
    ) -> None:
        first = _next_id(self._connection, "passage")
        title = _text.clean(text.title)
        rows, words, lengths, in_order = [], [], [], {}
        for id_, passage in enumerate(passages, first):
            stretch = text.text[passage.start : passage.end]
            rows.append((id_, segmentation, content, *_passage_values(passage, stretch)))
            found = in_order[passage.start, passage.end] = _analysis.words(stretch)
            tokens, length = _words.tokens(found, text.language, title, first=id_ == first)
            words.append((id_, tokens))
            lengths.append(length)
        own = [passage for passage in passages if passage.embedded]
        characters = sum(passage.end - passage.start for passage in own)
        self._connection.execute(
            "INSERT INTO segmented VALUES(?,?,?,?,?,?,?)",
            (segmentation, content, first, len(passages), len(own), characters, pack_lengths(lengths)),
        )
        self._connection.executemany("INSERT INTO passage VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        _words.add(self._connection, segmentation, words)
        spans = [(id_, passage.start, passage.end, passage.embedded) for id_, passage in enumerate(passages, first)]
        _units.add(
            self._connection,
            segmentation,
            content,
            title,
            spans,
            lambda start, end: in_order.get((start, end)) or _analysis.words(text.text[start:end]),
        )
        for space in self._spaces if own else ():
            if space.row.segmentation == segmentation:
                self._connection.execute(
                    "INSERT OR REPLACE INTO todo"
                    " VALUES(?,?,coalesce((SELECT max(mtime_ns) FROM file WHERE content=?), 0),?,?)",
                    (space.row.id, content, content, len(own), characters),
                )
        if self._spaces.searched(segmentation):
            self._changes.add((Change.CONTENT, content))

    def _note_dead(self, removed: Removed, segmentation: int | None = None) -> None:
        """Tells readers and open spaces; with ``segmentation`` only its passages were erased."""
        for content in removed.contents:
            if segmentation is None or self._spaces.searched(segmentation):
                self._changes.add((Change.CONTENT, content))
            for space in self._spaces:
                if segmentation in (None, space.row.segmentation):
                    space.forget(content)


def _input_sha(text: str) -> bytes:
    """Gives the identity of what the encoder sees: 16 bytes of sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _passage_values(passage: Passage, text: str) -> tuple[object, ...]:
    context, place = _text.clean(passage.context), passage.location
    sha = _input_sha(f"{context}\n{text}" if context else text)
    heading, part = _text.clean(place.heading), _text.clean(place.part)
    return passage.ordinal, passage.start, passage.end, sha, passage.embedded, place.page, heading, part, context


def _next_id(connection: sqlite3.Connection, table: str) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name=?", (table,)).fetchone()
    return (int(row[0]) if row else 0) + 1
