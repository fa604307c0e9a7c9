"""HTML through lexbor (selectolax): headings, paragraphs, lists, tables, code; no script, no network.

Navigation, cookie bars, footers and lists of related pages are kept as furniture where an article can be
told from them: findable by words, not embedded, never lost. Else all of the text counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._encoding import decode
from sbert_desktop.extraction._normalise import one_line, without_spans
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})""",
                      re.IGNORECASE)
_SKIPPED = frozenset(("script", "style", "template", "noscript", "svg", "canvas", "iframe", "object", "embed", "head",
                      "select", "datalist", "map", "audio", "video", "rt", "rp", "math", "frameset", "applet"))
_BLOCKS = frozenset(("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote", "ul",
                     "ol", "dl", "figure", "figcaption", "form", "fieldset", "details", "summary", "hr", "address",
                     "center", "table", "tbody", "thead", "tfoot", "tr", "caption", "body", "html", "dialog", "legend",
                     "h1", "h2", "h3", "h4", "h5", "h6", "pre", "td", "th", "hgroup", "search", "menu"))
_LINES = frozenset(("br", "li", "dt", "dd"))
_ASIDE = frozenset(("nav", "footer", "aside"))
_ASIDE_ROLES = frozenset(("navigation", "contentinfo", "complementary", "banner", "search"))
_WITH_ROLE = frozenset(("div", "section", "header", "ul", "form"))
_HIDDEN = ('[hidden]:not([hidden="until-found"]), [style*="display:none"], [style*="display: none"], '
           '[style*="visibility:hidden"], [style*="visibility: hidden"], [aria-hidden="true"], '
           "dialog:not([open]), .mw-editsection")
_NAMED = ", ".join(f"{tag}[{name}]" for name in ("class", "id")
                   for tag in ("div", "section", "ul", "ol", "table", "header", "form", "p", "dl"))
# How people name what stands around an article.
_FRAME = re.compile(r"(?:^|[\s_-])(?i:cookies?|consent|gdpr|breadcrumbs?|nav|navi|navbar|navbox|navigation|sidebar|"
                    r"footer|share|sharing|social|related|recommended|recommendations|newsletter|subscribe|subscription|"
                    r"advert|advertisement|ads?|promo|popup|modal|pagination|pager|toc|toolbar|topbar|masthead|catlinks|"
                    r"printfooter|siteSub|skip)(?=$|[\s_-]|[A-Z])|(?i:cookie(?:banner|bar|consent|notice))|"
                    r"(?:^|\s)(?i:more|further)[_-]?(?i:stories|articles|news)")
_MOST_MARKED = 2000
_LITTLE = 300  # characters: a page with less text of its own than this may be all navigation by nature
_OPEN_TAG = re.compile(r"<(/?)(?:div|span|b|i|u|em|strong|font|table|tr|td|ul|ol|section|blockquote|center|dl|a|form|"
                       r"article|small|big|sub|sup|tt|code|p)\b", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]{0,2000}>")
_UNSEEN = ((re.compile(r"<!--"), re.compile(r"-->")),
           (re.compile(r"<(?:script|style)\b", re.IGNORECASE),
            re.compile(r"</(?:script|style)\s{0,20}>", re.IGNORECASE)))
_DEEPEST = 1500  # deeper trees take lexbor quadratic time; pages by people have under 100 levels
_LONG_CELL = 400
_DATE_META = ("article:published_time", "og:published_time", "datepublished", "dc.date.issued", "dcterms.created",
              "dc.date", "dcterms.date", "date", "pubdate", "last-modified", "article:modified_time")


def read(source: Source) -> ExtractedText:
    """Reads a page.

    Raises:
        ExtractionError: ``empty``.
    """
    out = TextBuilder("html")
    write_html(decode(source.data, declared_encoding(source.data))[0], out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def declared_encoding(data: bytes) -> str:
    """Gives the encoding that a page names in its head, ``""`` if it names none."""
    match = _CHARSET.search(data[:4096])
    return match.group(1).decode("ascii") if match else ""


def write_html(text: str, out: TextBuilder, part: str = "") -> None:
    """Adds the blocks of a page or of a mail's HTML; sets title and date where the page has them."""
    if _too_deep(text):
        out.note("damaged", "The page is nested too deeply; only its plain text was read.", "")
        import html

        for begin, end in _UNSEEN:
            text = without_spans(text, begin, end, " ")
        out.add(html.unescape(_ANY_TAG.sub(" ", text)), part=part)
        return
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    tree = LexborHTMLParser(text, options=LexborDocumentOptions.WO_EVENTS)
    body = tree.body or tree.root
    if body is None:
        return
    if not out.title:
        out.title = _title(tree)
    if out.date is None:
        out.date = _date(tree)
    marks = _marks(tree, body)
    walk = _Walk(part, marks, limit=out.limit)
    walk.run(body)
    if not walk.entries and tree.css_first("noscript") is not None:
        walk = _Walk(part, _Marks(skipped=_SKIPPED - {"noscript"}), limit=out.limit)
        walk.run(body)
    elif walk.own < _LITTLE and walk.own < 0.1 * walk.apart:
        walk = _Walk(part, _Marks(hidden=marks.hidden, all_own=True), limit=out.limit)
        walk.run(body)
    walk.write(out)
    if not out.title and walk.first_heading:
        out.title = walk.first_heading


def _too_deep(text: str) -> bool:
    """Counts how deep the common tags are nested, only where the numbers make it possible."""
    if text.count("<") < _DEEPEST:
        return False
    depth = deepest = 0
    for match in _OPEN_TAG.finditer(text):
        depth += -1 if match.group(1) else 1
        if depth < 0:
            depth = 0
        elif depth > deepest:
            deepest = depth
    if deepest <= _DEEPEST:
        return False
    # Unclosed paragraphs and cells close themselves: count again without them.
    depth = 0
    for match in _OPEN_TAG.finditer(text):
        if match.group().lower().lstrip("</") in {"p", "tr", "td"}:
            continue
        depth = max(0, depth + (-1 if match.group(1) else 1))
        if depth > _DEEPEST:
            return True
    return False


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head > title, title")
    title = one_line(node.text() if node is not None else "")
    if title:
        return title
    node = tree.css_first('meta[property="og:title"], meta[name="title"]')
    return one_line((node.attributes.get("content") or "") if node is not None else "")


def _date(tree: LexborHTMLParser) -> float | None:
    found: dict[str, float] = {}
    for node in tree.css("meta")[:200]:
        attributes = node.attributes
        key = (attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
               or attributes.get("http-equiv") or "").lower()
        if key in _DATE_META:
            date = parse_date(attributes.get("content") or "")
            if date is not None:
                found.setdefault(key, date)
    return next((found[key] for key in _DATE_META if key in found), None)


def _main(tree: LexborHTMLParser, body: LexborNode) -> int | None:
    """Gives the id of the element that holds the page's own content, if there clearly is one."""
    for selector in ("main", '[role="main"]', "article"):
        nodes = tree.css(selector)
        if len(nodes) == 1:
            inside = len(nodes[0].text(separator=" ", strip=True))
            if inside > 300 and inside > 0.35 * len(body.text(separator=" ", strip=True)):
                return int(nodes[0].mem_id)
    return None


@dataclass(frozen=True, slots=True)
class _Marks:
    """What is known of a page before the walk: ids of elements."""

    main: int | None = None
    hidden: frozenset[int] = frozenset()
    aside: frozenset[int] = frozenset()
    skipped: frozenset[str] = _SKIPPED
    all_own: bool = False  # nothing can be told apart


def _marks(tree: LexborHTMLParser, body: LexborNode) -> _Marks:
    """Finds the article, what is hidden, and what is named like a part of the frame around an article."""
    total = len(body.text(separator=" ", strip=True))
    hidden = {int(node.mem_id) for node in tree.css(_HIDDEN)[:_MOST_MARKED]
              if len(node.text(strip=True)) < 0.5 * total}
    aside: set[int] = set()
    for node in tree.css(_NAMED):
        attributes = node.attributes
        named = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        if _FRAME.search(named) and len(node.text(strip=True)) < 0.35 * total:
            aside.add(int(node.mem_id))
            if len(aside) >= _MOST_MARKED:
                break
    return _Marks(_main(tree, body), frozenset(hidden), frozenset(aside))


@dataclass(slots=True)
class _Walk:
    """One pass over the tree, without recursion; text gathers until a block ends.

    ``own`` and ``apart`` count the characters of the page's own text and of its furniture.
    """

    part: str
    marks: _Marks
    limit: int
    first_heading: str = ""
    own: int = 0
    apart: int = 0
    entries: list[tuple[str, BlockKind, int]] = field(default_factory=list)  # text, kind, level of a heading
    _held: list[str] = field(default_factory=list)
    _aside: int = 0
    _in_main: int = 0
    _pre: int = 0
    _quote: int = 0
    _heading: int = 0
    _tables: list[list[list[str]]] = field(default_factory=list)

    def run(self, root: LexborNode) -> None:
        """Walks the tree under a node, the node included."""
        open_nodes: list[tuple[LexborNode, str, bool, bool]] = []
        node: LexborNode | None = root
        skipped, hidden = self.marks.skipped, self.marks.hidden
        while node is not None and self.own + self.apart < self.limit:
            tag = node.tag or ""
            if tag == "-text":
                self._text(node.text_content or "")
            elif tag not in skipped and tag[:1] not in "-!" and not (hidden and int(node.mem_id) in hidden):
                aside, main = self._open(tag, node)
                child = node.first_child
                if child is not None:
                    open_nodes.append((node, tag, aside, main))
                    node = child
                    continue
                self._close(tag, aside, main)
            following = node.next if open_nodes else None
            while following is None and open_nodes:
                parent, tag, aside, main = open_nodes.pop()
                self._close(tag, aside, main)
                following = parent.next if open_nodes else None
            node = following
        self._flush()

    def _text(self, text: str) -> None:
        if self._pre:
            self._held.append(text)
        elif text:
            words = text.split()
            if not words:
                self._held.append(" ")
                return
            self._held.append(f"{' ' if text[0].isspace() else ''}{' '.join(words)}{' ' if text[-1].isspace() else ''}")

    def _open(self, tag: str, node: LexborNode) -> tuple[bool, bool]:
        """Enters an element; gives whether it begins an aside and whether it is the main one."""
        if tag in _LINES:
            self._held.append("\n- " if tag == "li" else "\n")
            return False, False
        if tag not in _BLOCKS:
            return False, False
        if tag in {"td", "th"} and self._tables:
            self._held.append("\x1f")
            return False, False
        if tag in {"tr", "tbody", "thead", "tfoot"} and self._tables:
            self._held.append("\x1e")
            return False, False
        if self._tables and tag not in {"table", "pre", "nav", "aside", "footer"} and tag[0] != "h":
            self._held.append("\n")  # a paragraph inside a cell
            return False, False
        self._flush()
        main_id = self.marks.main
        main = main_id is not None and int(node.mem_id) == main_id
        aside = not main and not self.marks.all_own and self._begins_aside(tag, node)
        self._in_main += main
        self._aside += aside
        if tag == "pre":
            self._pre += 1
        elif tag == "blockquote":
            self._quote += 1
        elif tag == "table":
            self._tables.append([])
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._heading = int(tag[1])
        return aside, main

    def _begins_aside(self, tag: str, node: LexborNode) -> bool:
        if self.marks.aside and int(node.mem_id) in self.marks.aside:
            return True
        if self._in_main:
            return tag == "nav"
        if tag in _ASIDE:
            return True
        return tag in _WITH_ROLE and (node.attributes.get("role") or "") in _ASIDE_ROLES

    def _close(self, tag: str, aside: bool, main: bool) -> None:
        if tag not in _BLOCKS or (tag in {"td", "th", "tr", "tbody", "thead", "tfoot"} and self._tables):
            return
        if self._tables and tag not in {"table", "pre", "nav", "aside", "footer"} and tag[0] != "h":
            self._held.append("\n")
            return
        if tag == "table":
            self._flush_table()
            if self._tables:
                self._tables.pop()
        else:
            self._flush()
        self._aside -= aside
        self._in_main -= main
        if tag == "pre" and self._pre:
            self._pre -= 1
        elif tag == "blockquote" and self._quote:
            self._quote -= 1
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._heading = 0

    def _flush(self) -> None:
        if not self._held:
            return
        raw = "".join(self._held)
        self._held.clear()
        if not raw or raw.isspace():
            return
        if self._pre:
            self._add(raw, BlockKind.CODE)
            return
        text = _lines(raw.replace("\x1e", "\n").replace("\x1f", "\n"))
        if not text:
            return
        kind = BlockKind.FURNITURE if self._is_aside() else BlockKind.PARAGRAPH
        if self._quote and kind is BlockKind.PARAGRAPH and not self._heading:
            kind = BlockKind.QUOTE
        if self._heading and kind is BlockKind.PARAGRAPH:
            heading = one_line(text, 300)
            if self._heading == 1 and not self.first_heading:
                self.first_heading = heading
            self._add(heading, BlockKind.HEADING, self._heading)
        else:
            self._add(text, kind)

    def _add(self, text: str, kind: BlockKind, level: int = 0) -> None:
        if not text or text.isspace():
            return
        self.entries.append((text, kind, level))
        if kind is BlockKind.FURNITURE:
            self.apart += len(text)
        else:
            self.own += len(text)

    def write(self, out: TextBuilder) -> None:
        """Hands the blocks over."""
        for text, kind, level in self.entries:
            if level:
                out.add_heading(text, level, part=self.part)
            else:
                out.add(text, kind, part=self.part)

    def _flush_table(self) -> None:
        """Gives the rows of a table as lines; a table that only lays out a page as paragraphs."""
        raw = "".join(self._held)
        self._held.clear()
        rows = [[" ".join(cell.split()) for cell in row.split("\x1f")] for row in raw.split("\x1e")]
        rows = [[cell for cell in row if cell] for row in rows]
        rows = [row for row in rows if row]
        if not rows:
            return
        furniture = self._is_aside()
        if max(map(len, rows)) < 2 or any(len(cell) > _LONG_CELL for row in rows for cell in row):
            for piece in re.split("[\x1e\x1f]", raw):
                self._add(_lines(piece), BlockKind.FURNITURE if furniture else BlockKind.PARAGRAPH)
            return
        kind = BlockKind.FURNITURE if furniture else BlockKind.TABLE
        self._add("\n".join("\t".join(row) for row in rows), kind)

    def _is_aside(self) -> bool:
        return self._aside > 0 or (self.marks.main is not None and not self._in_main and not self._heading)


def _lines(raw: str) -> str:
    """Collapses spaces, drops empty lines and empty list items."""
    lines = (" ".join(line.split()) for line in raw.split("\n"))
    return "\n".join(line for line in lines if line and line != "-")
