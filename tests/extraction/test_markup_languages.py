"""reStructuredText, Org, AsciiDoc and LaTeX: headings become paths, markup goes, words stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction import extract


def read(folder: Path, name: str, text: str) -> ExtractedText:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return extract(path)


def pieces(document: ExtractedText, kind: BlockKind | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in {None, block.kind}]


RST = """\
=============
The Gardener
=============

:Author: Ann Miller
:Date: 2021-03-04

Some *strong* and **stronger** words, a `link <https://x.org/y>`_, a :ref:`chapter <target>` and ``code_x``.

.. This is a comment
   on two lines.

.. _target:

Tools
=====

Note the |plant|::

    dig()
    rake()

.. |plant| replace:: tulip bulbs

.. warning:: Mind the spade
   while digging.

.. code-block:: python
   :linenos:

   def f():
       return 1

Care
----

=====  ======
Month  Rain
=====  ======
May    12 mm
June   9 mm
=====  ======

+-------+--------+
| Soil  | Depth  |
+=======+========+
| clay  | 30 cm  |
+-------+--------+

.. figure:: bed.png
   :alt: A bed of roses

   The bed in spring.

.. [1] A footnote of the gardener.
"""


def test_rst_keeps_structure_and_loses_markup(tmp_path: Path) -> None:
    document = read(tmp_path, "a.rst", RST)
    assert document.title == "The Gardener"
    assert document.date == 1614816000.0
    assert pieces(document, BlockKind.HEADING) == ["The Gardener", "Tools", "Care"]
    assert "Some strong and stronger words, a link, a chapter and code_x." in pieces(document)
    assert "Note the tulip bulbs:" in pieces(document)
    assert pieces(document, BlockKind.CODE) == ["dig()\nrake()", "def f():\n    return 1"]
    assert pieces(document, BlockKind.TABLE) == ["Month\tRain\nMay\t12 mm\nJune\t9 mm", "Soil\tDepth\nclay\t30 cm"]
    assert document.blocks[-1].heading == "The Gardener > Tools > Care"
    for words in ("Mind the spade", "while digging.", "A bed of roses", "The bed in spring.", "A footnote of the"):
        assert words in document.text
    for words in ("This is a comment", "on two lines", "linenos", "target", "::", ".. ", "=="):
        assert words not in document.text


ORG = """\
#+TITLE: The Gardener
#+DATE: <2021-03-04 Thu>
# a comment
* TODO [#A] Tools :spade:
  :PROPERTIES:
  :ID: 4711
  :END:
Some *strong*, /slanted/ and =code= words, a [[https://x.org][link]].
** Care
#+BEGIN_SRC python
def f():
    return 1
#+END_SRC
| Month | Rain  |
|-------+-------|
| May   | 12 mm |
#+BEGIN_COMMENT
unseen
#+END_COMMENT
#+begin_quote
A quotation.
#+end_quote
- item one
"""


def test_org_keeps_structure_and_loses_markup(tmp_path: Path) -> None:
    document = read(tmp_path, "a.org", ORG)
    assert document.title == "The Gardener"
    assert document.date == 1614816000.0
    assert pieces(document, BlockKind.HEADING) == ["Tools :spade:", "Care"]
    assert "Some strong, slanted and code words, a link." in pieces(document)
    assert pieces(document, BlockKind.CODE) == ["def f():\n    return 1"]
    assert pieces(document, BlockKind.TABLE) == ["Month\tRain\nMay\t12 mm"]
    assert "A quotation." in pieces(document)
    assert pieces(document, BlockKind.FURNITURE) == ["  :ID: 4711"]
    assert "unseen" not in document.text
    assert "comment" not in document.text


ADOC = """\
= The Gardener
Ann Miller <ann@example.org>
v1.0, 2021-03-04
:toc:
:plant: tulip

// a comment
== Tools

Some *strong*, _slanted_ and `code` words about the {plant}, a https://x.org[link], see <<care,Care>>.

[source,python]
----
def f():
    return 1
----

=== Care

.Rain by month
|===
|Month |Rain

|May
|12 mm
|===

////
unseen
////

NOTE: Mind the spade.

image::bed.png[A bed of roses]

* item one
"""


def test_asciidoc_keeps_structure_and_loses_markup(tmp_path: Path) -> None:
    document = read(tmp_path, "a.adoc", ADOC)
    assert document.title == "The Gardener"
    assert document.date == 1614816000.0
    assert pieces(document, BlockKind.HEADING) == ["The Gardener", "Tools", "Care"]
    assert "Some strong, slanted and code words about the tulip, a link, see Care." in pieces(document)
    assert pieces(document, BlockKind.CODE) == ["def f():\n    return 1"]
    assert pieces(document, BlockKind.TABLE) == ["Month\tRain\nMay\t12 mm"]
    assert document.blocks[-1].heading == "The Gardener > Tools > Care"
    for words in ("Rain by month", "NOTE: Mind the spade.", "A bed of roses"):
        assert words in document.text
    for words in ("unseen", "a comment", "toc", "===", "----"):
        assert words not in document.text


TEX = r"""
\documentclass[a4paper]{article}
\usepackage{babel}
\newcommand{\plant}[1]{\emph{#1}}
\title{The \textbf{Gardener}}
\author{Ann M\"uller \and B\'ela}
\date{2021-03-04}
\begin{document}
\maketitle
% a comment
\section{Tools}\label{sec:tools}
Some \emph{slanted} words 50\% off~now, ``quoted'' --- see \cite{knuth} and \href{https://x.org}{the link}.
Caf\'e, na\"{\i}ve, Stra\ss e, \c{c}a, \v{S}koda.\footnote{A note below.}
\subsection*{Care}
\begin{itemize}
  \item one
  \item[two] more
\end{itemize}
\begin{verbatim}
x = 1 % no comment
\end{verbatim}
\begin{table}[h]
\begin{tabular}{l|r}
\hline
Month & Rain \\ \hline
May & 12 mm \\
\end{tabular}
\caption{Rain by month}
\end{table}
\begin{comment}
unseen
\end{comment}
The energy is $E = mc^2$.
\end{document}
behind the end
"""


def test_tex_keeps_structure_and_loses_markup(tmp_path: Path) -> None:
    document = read(tmp_path, "a.tex", TEX)
    assert document.title == "The Gardener"
    assert document.date == 1614816000.0
    assert dict(document.metadata)["author"].startswith("Ann Müller")
    assert pieces(document, BlockKind.HEADING) == ["Tools", "Care"]
    text = " ".join(document.text.split())
    assert "Some slanted words 50% off now, “quoted” — see and the link." in text
    assert "Café, naïve, Straße, ça, Škoda. A note below." in text
    assert "- one" in text
    assert "two more" in text
    assert pieces(document, BlockKind.CODE) == ["x = 1 % no comment"]
    assert pieces(document, BlockKind.TABLE) == ["Month\tRain\nMay\t12 mm"]
    assert "Rain by month" in text
    assert "E = mc^2" in text
    assert document.blocks[-1].heading == "Tools > Care"
    for words in ("a comment", "unseen", "a4paper", "babel", "knuth", "sec:tools", "behind the end", "hline", "\\"):
        assert words not in text


HOSTILE = {
    "a.rst": ["`" * 200_000, ".. note::\n" + "\n".join(" " * n + ".. note::" for n in range(1, 1000)), "*a " * 60_000,
              "|a" * 60_000, "=" * 100_000 + "\n" + "=" * 100_000],
    "a.org": ["[[" * 100_000, "*a " * 60_000, ":A:\n" * 30_000, "#+BEGIN_SRC\n" * 20_000, "=" * 200_000],
    "a.adoc": ["<<" * 100_000, "*a " * 60_000, "----\n" * 30_001, "[" * 100_000, "|" * 100_000, "`+" * 60_000],
    "a.tex": ["{" * 200_000, "\\section{" * 20_000, "\\cite{" * 30_000, "\\begin{tabular}" * 20_000,
              "\\title{" * 30_000, "%" * 200_000, "\\begin{comment}" * 10_000, "\\'" * 60_000],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in HOSTILE.items() for text in texts])
def test_hostile_markup_ends_soon(tmp_path: Path, name: str, text: str) -> None:
    import time

    from sbert_desktop.errors import ExtractionError

    began = time.process_time()
    try:
        read(tmp_path, name, text)
    except ExtractionError as error:
        assert error.code in {"empty", "damaged"}  # noqa: PT017
    assert time.process_time() - began < 30
