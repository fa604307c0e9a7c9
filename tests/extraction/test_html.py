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


FRAME = """<div class="cookie-banner"><p>We use cookies to make this site better for all of our visitors.</p></div>
<div id="siteNavigation" class="site-nav"><ul><li><a href=/>Home</a><li><a href=/a>About us</a></ul></div>
%s
<div class="related-articles"><h3>Related</h3><ul><li><a href=/1>Roses in May</a></ul></div>
<div class="site-footer">Imprint</div>"""


def test_frame_around_an_article_is_furniture_by_its_names_as_well(tmp_path: Path) -> None:
    document = read(tmp_path, f"<title>T</title><body>{FRAME % f'<div class=content><h1>Tulips</h1><p>{STORY}</div>'}")
    assert pieces(document, BlockKind.PARAGRAPH) == [STORY.strip()]
    furniture = "\n".join(pieces(document, BlockKind.FURNITURE))
    assert all(words in furniture for words in ("We use cookies", "About us", "Roses in May", "Imprint"))


def test_names_of_the_frame_do_not_hide_the_article(tmp_path: Path) -> None:
    for name in ("has-sidebar", "nav-open content", "toc", "footer", "address"):
        document = read(tmp_path, f"<body><div class='{name}'><p>{STORY}</p></div></body>")
        assert pieces(document, BlockKind.PARAGRAPH) == [STORY.strip()]
    document = read(tmp_path, f"<body><p>{STORY}</p><div class='address'>High Street 1</div><p class=adsl>fast</p>")
    assert not pieces(document, BlockKind.FURNITURE)


def test_a_page_of_links_keeps_its_text_as_its_own(tmp_path: Path) -> None:
    document = read(tmp_path, "<body><nav><ul>" + "".join(f"<li><a href={n}>Chapter {n} of the book</a>"
                                                          for n in range(60)) + "</ul></nav></body>")
    assert "Chapter 59 of the book" in "\n".join(pieces(document, BlockKind.PARAGRAPH))


def test_what_is_hidden_is_not_read_unless_it_is_the_page(tmp_path: Path) -> None:
    document = read(tmp_path, f"<body><p>{STORY}</p><div hidden>unseen one</div>"
                    "<p style='color:red; display:none'>unseen two</p><template><p>unseen three</p></template>"
                    "<span aria-hidden=true>unseen four</span>"
                    "<dialog>unseen five</dialog><noscript>unseen six</noscript><details>Opened by a click</details>")
    assert "unseen" not in document.text
    assert "Opened by a click" in document.text
    assert STORY.strip() in read(tmp_path, f"<body style='visibility:hidden'><div hidden><p>{STORY}</p></div>").text
    assert "only here" in read(tmp_path, "<body><div id=app></div><noscript><p>only here</p></noscript></body>").text


def test_mark_and_declaration_in_the_head_tell_the_charset(tmp_path: Path) -> None:
    page = "<html><head><meta http-equiv='Content-Type' content='text/html; charset=%s'></head><body><p>Łódź 東京</p>"
    assert "Łódź 東京" in read(tmp_path, b"\xef\xbb\xbf" + (page % "iso-8859-1").encode()).text
    assert "Łódź 東京" in read(tmp_path, (page % "utf-16").encode("utf-16")).text
    assert "Łódź" in read(tmp_path, (page % "iso-8859-2").replace("東京", "").encode("iso8859_2")).text


def test_large_and_wide_pages_end_soon(tmp_path: Path) -> None:
    import time

    began = time.process_time()
    for html in ("<div class='nav x'>a</div>" * 60_000, "<p hidden>b</p>" * 60_000, "<div class=footer>" * 1400 + "c"):
        try:
            read(tmp_path, html)
        except Exception as error:
            assert type(error).__name__ == "ExtractionError"  # noqa: PT017
    assert time.process_time() - began < 30


def test_block_quotes_are_told_from_the_authors_own_words(tmp_path: Path) -> None:
    document = read(tmp_path, "<p>She writes:</p><blockquote><p>The mill burned down.</p><p>Nobody was hurt.</p>"
                    "<h3>Later</h3><pre>x = 1</pre></blockquote><p>So it was.</p><blockquote>Bare words</blockquote>")
    assert pieces(document, BlockKind.QUOTE) == ["The mill burned down.", "Nobody was hurt.", "Bare words"]
    assert pieces(document, BlockKind.PARAGRAPH) == ["She writes:", "So it was."]
    assert pieces(document, BlockKind.HEADING) == ["Later"]
    assert pieces(document, BlockKind.CODE) == ["x = 1"]
    assert document.text.startswith("She writes:\n\nThe mill burned down.")
