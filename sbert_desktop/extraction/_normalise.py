"""The one normal form of all stored text: offsets are counted in it and nothing changes it later."""

from __future__ import annotations

import re
import unicodedata

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb"
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_LIGATURES = "\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc\u01c4-\u01cc\u0132\u0133"
_ODD = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SPACES}{_LIGATURES}\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_ODD_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE_BREAKS = {"\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"}
_SPACE_SET = re.compile(f"[{_SPACES}]")
_BLANK_LINES = re.compile(r"[ \t]+\n")
_MANY_LINES = re.compile(r"\n{3,}")


def _replace(match: re.Match[str]) -> str:
    char = match.group()
    if char in _LINE_BREAKS:
        return "\n"
    if _SPACE_SET.match(char):
        return " "
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    if unicodedata.category(char) in {"Cc", "Cf", "Cn"}:
        return ""
    return unicodedata.normalize("NFKC", char).replace("\u0640", "")


def normalise(text: str) -> str:
    r"""Gives the normal form of a piece of text.

    NFC; ligatures and Arabic presentation forms resolved; soft hyphens, NULs, zero-width and
    direction marks gone (joiners stay: Persian, Indic scripts and emoji need them); every kind of
    space is a space and every kind of line end is ``\n``; lone surrogates become U+FFFD.
    Idempotent.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return _ODD_ASCII.sub(_replace, text)
    if _ODD.search(text):
        text = _ODD.sub(_replace, text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def tidy(text: str) -> str:
    """Normalises, drops spaces before line ends, and keeps at most one blank line in a row."""
    return tidy_lines(normalise(text))


def tidy_lines(text: str) -> str:
    """As :func:`tidy`, for a text that is in normal form already."""
    if " \n" in text or "\t\n" in text:
        text = _BLANK_LINES.sub("\n", text)
    if "\n\n\n" in text:
        text = _MANY_LINES.sub("\n\n", text)
    return text.strip("\n")


def one_line(text: str, limit: int = 300) -> str:
    """Gives the text as one line of at most ``limit`` code points, cut at a space where possible."""
    line = " ".join(normalise(text).split())
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", limit // 2, limit)
    return line[: cut if cut > 0 else limit].rstrip()


def without_spans(text: str, begin: re.Pattern[str], end: re.Pattern[str], filler: str = "") -> str:
    """Takes out everything from each ``begin`` to the next ``end``; a begin without an end stays.

    Linear also on hostile input, where a lazy regular expression is quadratic.
    """
    parts: list[str] = []
    at = 0
    while (opened := begin.search(text, at)) and (closed := end.search(text, opened.end())):
        parts += (text[at : opened.start()], filler)
        at = closed.end()
    return "".join(parts) + text[at:] if parts else text
