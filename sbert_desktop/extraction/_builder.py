"""Collects the blocks of one document and assigns their offsets, once, in the normal form."""

from __future__ import annotations

from dataclasses import dataclass, field

from sbert_desktop.domain import Block, BlockKind, ExtractedText, Problem, Run
from sbert_desktop.extraction._normalise import normalise, one_line, tidy
from sbert_desktop.extraction._problems import problem

TEXT_LIMIT = 256 * 1024 * 1024
"""Most UTF-8 bytes (roughly) of text that one document may give in one go, as a guard against bombs; the rest is left
out, and said. Plain text is streamed in parts and has no such limit."""

HEADING_SEPARATOR = " > "


@dataclass(slots=True)
class TextBuilder:
    """Puts blocks one behind the other with a blank line between them.

    Furniture (running headers and footers) is kept back and put behind everything else, so that a
    passage that crosses a page does not hold a page number in mid-sentence. ``heading`` of each
    block is the path of the headings above it, outermost first.
    """

    format: str
    title: str = ""
    date: float | None = None
    problems: list[Problem] = field(default_factory=list)
    metadata: list[tuple[str, str]] = field(default_factory=list)
    limit: int = TEXT_LIMIT
    _parts: list[str] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _furniture: list[tuple[str, Block]] = field(default_factory=list)
    _length: int = 0
    _bytes: int = 0
    _headings: list[tuple[int, str]] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """True once the limit was reached: readers may stop."""
        return self._bytes >= self.limit

    @property
    def heading(self) -> str:
        """The path of the headings that are open now."""
        return HEADING_SEPARATOR.join(text for _, text in self._headings)

    def add(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH, *, page: int | None = None, part: str = "",
            runs: tuple[Run, ...] = (), ready: bool = False) -> None:
        """Adds a block unless it is blank.

        Args:
            text: Any text; normalised here unless ``ready``.
            kind: What it is. Use :meth:`add_heading` for headings with a level.
            page: Page, from 1.
            part: Part of a container (mail part, slide, sheet).
            runs: Where its characters stand on PDF pages, ``text_start`` relative to the block.
            ready: The text is in normal form already and ``runs`` refer to it as it stands.
        """
        if not ready:
            text = tidy(text)
        if not text or text.isspace():
            return
        block = Block(0, len(text), kind, page, self.heading, part, runs)
        if kind is BlockKind.FURNITURE:
            self._furniture.append((text, block))
        else:
            self._append(text, block)

    def add_heading(self, text: str, level: int, *, page: int | None = None, part: str = "",
                    runs: tuple[Run, ...] = (), ready: bool = False) -> None:
        """Adds a heading of a level from 1 (outermost) on; what follows stands under it."""
        line = text if ready else one_line(text, 1000)
        if not line or line.isspace():
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, one_line(line, 120)))
        self.add(line, BlockKind.HEADING, page=page, part=part, runs=runs, ready=True)

    def add_code(self, text: str, heading: str = "") -> None:
        """Adds a CODE block as it stands (no lines taken away) under a heading of its own."""
        text = normalise(text).strip("\n").rstrip()
        if text and not text.isspace():
            self._append(text, Block(0, len(text), BlockKind.CODE, None, one_line(heading, 120)))

    def reset_headings(self) -> None:
        """Closes all open headings (a new part begins)."""
        self._headings.clear()

    def note(self, code: str, message: str = "", hint: str | None = None) -> None:
        """Notes that a part of the document was not read."""
        self.problems.append(problem(code, message, hint, partial=True))

    def finish(self, language: str = "") -> ExtractedText:
        """Gives the document."""
        for text, block in self._furniture:
            self._append(text, block)
        self._furniture.clear()
        if self.full:
            self.note("too-large", "The document holds more text than the limit; the rest was left out.", "")
        return ExtractedText(self.format, "".join(self._parts), tuple(self._blocks), one_line(self.title), self.date,
                             language, tuple(self.problems),
                             tuple((key, one_line(value)) for key, value in self.metadata if value.strip()))

    def _append(self, text: str, block: Block) -> None:
        if self.full:
            return
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if self._bytes + size > self.limit:
            text = text[: max(1, (self.limit - self._bytes) * len(text) // size)]
            self._bytes = self.limit
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start = self._length
        runs = block.runs
        if runs:
            runs = tuple(Run(run.text_start + start, run.page, run.char_start, run.length, run.box) for run in runs
                         if run.text_start < len(text))
        self._blocks.append(Block(start, start + len(text), block.kind, block.page, block.heading, block.part, runs))
        self._parts.append(text)
        self._length += len(text)
        self._bytes += size

