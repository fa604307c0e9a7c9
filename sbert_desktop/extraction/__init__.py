"""Files to text and text to passages.

``extract`` reads one file in this process; the program itself reads through an
:class:`ExtractionPool`, whose children have limits on time and memory. ``split`` cuts the text
into passages. One private module per format; :mod:`._registry` lists them.
"""

from __future__ import annotations

from sbert_desktop.extraction._codec import decode_document, decode_problem
from sbert_desktop.extraction._extract import FILE_LIMIT, extract
from sbert_desktop.extraction._language import detect_language
from sbert_desktop.extraction._paging import limit_told
from sbert_desktop.extraction._pool import ExtractionPool
from sbert_desktop.extraction._problems import problem, problem_of_child
from sbert_desktop.extraction._registry import SUPPORTED, format_of
from sbert_desktop.extraction._sentences import sentences
from sbert_desktop.extraction._split import split

EXTRACTOR_VERSION = 2
"""Raised whenever the text that a file gives changes: stored texts of older versions are made again."""

__all__ = [
    "EXTRACTOR_VERSION",
    "FILE_LIMIT",
    "SUPPORTED",
    "ExtractionPool",
    "decode_document",
    "decode_problem",
    "detect_language",
    "extract",
    "format_of",
    "limit_told",
    "problem",
    "problem_of_child",
    "sentences",
    "split",
]
