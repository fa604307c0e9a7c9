from __future__ import annotations

from pathlib import Path

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction import extract


def read(folder: Path, html: str | bytes) -> ExtractedText:
    path = folder / "page.html"
    path.write_bytes(html.encode() if isinstance(html, str) else html)
    return extract(path)


def pieces(document: ExtractedText, kind: BlockKind) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if block.kind is kind]


STORY = "The gardener planted tulips along the southern wall and waited for the spring. " * 6
PAGE = f"""<!doctype html><html><head><title>Garden diary</title><meta property="article:published_time"
content="2020-05-06T00:00:00Z"><style>p {{ color: red }}</style><script>var secret = 'script';</script></head><body>
<nav><a href="/">Home</a> <a href="/x">Archive</a></nav><main><h1>Tulips</h1><p>{STORY}</p><h2>Tools</h2>
<ul><li>Spade<li>Rake and <b>h</b>oe</ul><pre>x = 1
  y = 2</pre><table><tr><th>Month<th>Rain</tr><tr><td>May<td>12 <i>mm</i></tr></table></main>
<footer>Copyright 2020</footer></body></html>"""


def test_page_gives_headings_paragraphs_lists_code_and_tables(tmp_path: Path) -> None:
    document = read(tmp_path, PAGE)
    assert document.title == "Garden diary"
    assert document.date == 1588723200.0
    assert pieces(document, BlockKind.HEADING) == ["Tulips", "Tools"]
    assert pieces(document, BlockKind.TABLE) == ["Month\tRain\nMay\t12 mm"]
    assert pieces(document, BlockKind.CODE) == ["x = 1\n  y = 2"]
    assert "- Spade\n- Rake and hoe" in pieces(document, BlockKind.PARAGRAPH)
    assert [block.heading for block in document.blocks if block.kind is BlockKind.TABLE] == ["Tulips > Tools"]
    assert "secret" not in document.text
    assert "color" not in document.text


def test_navigation_and_footer_are_furniture_not_lost(tmp_path: Path) -> None:
    document = read(tmp_path, PAGE)
    assert pieces(document, BlockKind.FURNITURE) == ["Home Archive", "Copyright 2020"]
    assert document.text.startswith("Tulips")


def test_a_page_that_is_all_aside_keeps_its_text(tmp_path: Path) -> None:
    document = read(tmp_path, f"<body><div role='main'>x</div><div>{STORY}</div></body>")
    assert STORY.strip() in pieces(document, BlockKind.PARAGRAPH)


def test_declared_charset_is_honoured(tmp_path: Path) -> None:
    html = "<html><head><meta charset='windows-1251'><title>Сад</title></head><body><p>Тюльпаны цветут весной</p>"
    document = read(tmp_path, html.encode("cp1251"))
    assert document.title == "Сад"
    assert "Тюльпаны цветут весной" in document.text


def test_layout_tables_are_read_as_paragraphs(tmp_path: Path) -> None:
    document = read(tmp_path, f"<table><tr><td>Menu</td><td><p>{STORY}</p><p>Second {STORY}</p></td></tr></table>")
    assert len(pieces(document, BlockKind.PARAGRAPH)) == 2
    assert not pieces(document, BlockKind.TABLE)


def test_deep_nesting_ends_soon_and_keeps_the_words(tmp_path: Path) -> None:
    document = read(tmp_path, "<div>" * 200_000 + "buried words" + "</div>" * 200_000)
    assert "buried words" in document.text
    assert document.problems[0].partial


def test_unclosed_cells_are_not_deep(tmp_path: Path) -> None:
    document = read(tmp_path, "<table>" + "<tr><td>cell<td>other" * 3000 + "</table>")
    assert not document.problems
    assert document.text.count("cell\tother") == 3000
