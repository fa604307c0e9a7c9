"""Where sentences begin and end, in any language, without a model."""

from __future__ import annotations

import re

_CLOSERS = "\"'”’»›)\\]}」』】）〉》"
_OPENERS = "\"'“‘«‹(\\[{¿¡「『【（〈《*_"
_BORDER = re.compile(
    rf"(?P<wide>[。！？｡．।॥።။។]+[{_CLOSERS}]*)"
    rf"|(?P<end>(?:[.!?…؟۔։]+)[{_CLOSERS}]*)(?P<gap>\s+)"
    r"|(?P<break>\n[ \t]*\n\s*)"
    r"|(?P<line>\n[ \t]*)"
)
_BULLET = re.compile(r"(?:[-*+•‣◦▪▫●○■□–—·>]|\(?(?:\d{1,3}|[A-Za-z])[.)]|\[\d{1,3}\])[ \t]")
_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t]*\(?(?:\d{1,3}|[A-Za-z]|[ivxlc]{1,5})$")
_LAST_WORD = re.compile(r"[^\s(\[{“\"'‘«„]*$")
_FIRST_WORD = re.compile(rf"[{_OPENERS}]*([^\W_]+)")

# Words that stand before a full stop inside a sentence, lower case, without the stop.
def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Words that stand before a full stop inside a sentence, lower case, without the stop.
_ABBREVIATIONS = _words(
    "abb abs adm al alt anm app approx apr arq art assn atd aufl aug av avda ave avg bd bijv blvd bros bspw",
    "bzw c ca capt cf cfr ch chap circa cit cmdr col cor d.h dec def dept dhr diff dott dr dra drs e.g ed eds",
    "eg ej eq eqs est evtl ex excl exkl ext feb fig figs fr fri frl ft geb gen gest ggf gov hl hon hr hrn",
    "i.d.r i.e ibid ie im incl ing inkl inż jan jul jun kap lem lic lt m m.in maj mar max messrs mevr min",
    "mind mio misc mj mlle mm mme mon mr mrd mrs ms mt mx např no nos nov np nr núm o.a o.g oct op orig p",
    "p.ej p.es pp pres prof prop pt pág rd ref refs rep repr resp rev s.o s.u sat sec secs sect sen sep sept",
    "sgt sig sig.ra sog sr sra srta st std str sun supt t.a.v tab tel temp thm thu thur thurs tj trans tue",
    "tues tzn tzv u.a u.ä ud uds ul univ v vd vds vgl viz vol vols vs wed z.b zzgl č акад в вв г гг др им млн",
    "млрд пр проф рис руб см стр т.д т.е т.п тыс ул")
# Abbreviations after which a sentence often ends: they end it where a usual first word follows.
_MAYBE_LAST = _words(
    "a.d a.m b.c co corp d.c etc inc jr llc ltd m.d p.m ph.d plc sr u.s.w usw")
_STARTERS = _words(
    "a after although am an and as at because before but das der die ein eine el elle er es for he her his",
    "how however i if ihr il im in it its la las le les los on our she sie since that the their there these",
    "they this those un une we what when while who why wir you")
# What follows a German, Dutch or Czech ordinal such as "3. Oktober".
_MONTHS = _words(
    "april auflage august augustus března december dezember dubna etage februar februari jahrhundert",
    "jahrhunderts januar januari juli juni jänner kapitel klasse května ledna listopadu maart mai mal mei",
    "märz november oktober prosince quartal september srpna stock září února července června října")


def sentences(text: str) -> list[tuple[int, int]]:
    """Gives the sentences of a text as code-point ranges, in order, without the space between them.

    Every character that is not white space lies in exactly one range. Abbreviations, initials,
    decimals, ordinals, quotes and brackets behind the stop, full stops of other scripts, blank
    lines, list items and lines that were ended on purpose are taken into account.
    """
    cuts = _cuts(text)
    spans: list[tuple[int, int]] = []
    begin = 0
    for cut in [*cuts, len(text)]:
        piece = text[begin:cut]
        stripped = piece.strip()
        if stripped:
            start = begin + len(piece) - len(piece.lstrip())
            spans.append((start, start + len(stripped)))
        begin = cut
    return spans


def _cuts(text: str) -> list[int]:
    cuts: list[int] = []
    widths = _Widths(text)
    for match in _BORDER.finditer(text):
        kind = match.lastgroup
        if kind in {"wide", "break"}:
            cuts.append(match.end())
        elif kind == "line":
            if widths.ended_on_purpose(match.start(), match.end()):
                cuts.append(match.end())
        elif _ends_sentence(text, match) or (
            "\n" in match["gap"]
            and ("\n\n" in match["gap"] or widths.ended_on_purpose(match.start("gap"), match.end()))
        ):
            cuts.append(match.end())
    return cuts


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    """Decides about a stop that white space follows."""
    end, after = match["end"], text[match.end() : match.end() + 40]
    if not after:
        return True
    if match.start() > 0 and text[match.start() - 1].isspace() and end in {".", "!", "?"}:
        return True  # a text whose stops stand apart, as tokenised corpora have them; its case says nothing
    first = _FIRST_WORD.match(after)
    follower = first.group(1) if first else ""
    small = bool(follower) and follower[0].islower()
    if not end.startswith(".") or end.startswith(".."):
        return not small
    if small:
        return False
    line_start = text.rfind("\n", max(0, match.start() - 300), match.start()) + 1
    before = text[max(line_start, match.start() - 30) : match.start()]
    found = _LAST_WORD.search(before)
    word = found.group() if found else ""
    lower = word.lower().strip(")]}”’\"'*_")
    if _LIST_NUMBER.search("\n" + before) and match.start() - line_start <= 8:
        return False
    if lower in _MAYBE_LAST:
        return follower.lower() in _STARTERS or not follower or "\n" in match["gap"]
    if lower in _ABBREVIATIONS:
        return end != "." and not end.startswith(".)") and follower.lower() in _STARTERS
    if len(lower) == 1 and lower.isalpha():  # an initial, unless the pronoun or a plain list ends with it
        return word == "I" or follower.lower() in _STARTERS
    if "." in lower and len(lower) <= 7 and all(len(part) <= 2 for part in lower.split(".")) and not lower[0].isdigit():
        return follower.lower() in _STARTERS
    if lower.isdigit() and len(lower) <= 2:
        return follower.lower() not in _MONTHS and not follower.isdigit()
    return True


class _Widths:
    """Tells a line that its writer ended on purpose from one that was wrapped."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._until = -1
        self._width = 0

    def ended_on_purpose(self, line_end: int, next_start: int) -> bool:
        """True for list items and for lines into which the next word would have fitted easily."""
        text = self._text
        if next_start >= len(text) or _BULLET.match(text, next_start):
            return True
        if line_end >= self._until:
            self._measure(line_end)
        line_start = max(text.rfind("\n", max(0, line_end - 1000), line_end) + 1, line_end - 1000)
        word_end = next_start
        limit = min(len(text), next_start + 60)
        while word_end < limit and not text[word_end].isspace():
            word_end += 1
        return line_end - line_start + 1 + word_end - next_start <= 0.75 * self._width or self._width > 250

    def _measure(self, at: int) -> None:
        """Finds the longest line of the paragraph around a position (4,000 characters at most)."""
        text = self._text
        earliest, latest = max(0, at - 2000), min(len(text), at + 2000)
        before = text.rfind("\n\n", earliest, at)
        stop = text.find("\n\n", at, latest)
        begin = before + 2 if before >= 0 else earliest
        self._until = stop if stop >= 0 else latest
        self._width = max((len(line) for line in text[begin : self._until].split("\n")), default=0)
