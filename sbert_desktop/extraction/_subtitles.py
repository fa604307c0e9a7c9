"""Subtitles and transcripts: who speaks when is the location, what is said is the text.

Cues are joined to whole sentences, because a cue ends where the screen is full and not where a
thought ends. Each block keeps the time of its first cue and the speaker in ``Block.part``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_ARROW = re.compile(rf"^\s*({_CLOCK})\s*-->\s*{_CLOCK}")
_SBV = re.compile(rf"^\s*({_CLOCK}),{_CLOCK}\s*$")
_FRAMES = re.compile(r"^\{(\d{1,9})\}\{\d{0,9}\}(.*)$")
_LRC = re.compile(r"^((?:\[\d{1,3}:\d{2}(?:[.:]\d{1,3})?\])+)(.*)$")
_LRC_TAG = re.compile(r"^\[(ti|ar|al|by|au|la|re|length|offset):(.*)\]\s*$", re.IGNORECASE)
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,100})?\s+([^>]{1,200})>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z0-9:.][^<>\n]{0,300}>|<\d[\d:.]{0,20}>")
_ASS_TAG = re.compile(r"\{[^{}\n]{0,2000}\}")
_ASS_BREAK = re.compile(r"\\[Nnh]")
_SPOKEN = re.compile(r"^\s*(?:>>\s*)?(?:-\s*)?([^\W\d_][\w.'’ -]{0,40}?)\s*[:：]\s+(?=\S)")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*$")
_NUMBER = re.compile(r"^\s*\d{1,9}\s*$")
_PAUSE = 8.0  # seconds of silence between two cues: another thought
_LONG = 600  # characters of a block at most before it is closed at the next cue


@dataclass(frozen=True, slots=True)
class Turn:
    """One cue or one turn of a conversation; ``start`` in seconds (None: unknown)."""

    start: float | None
    speaker: str
    text: str
    stamp: str = ""  # how the file writes the time, where that is more than a clock (a date)


def read(source: Source) -> ExtractedText:
    """Reads srt, vtt, sbv, ass/ssa, MicroDVD sub and lrc.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data))
    out = TextBuilder(source.suffix or "srt")
    lines = text.split("\n")
    if source.suffix in {"ass", "ssa"}:
        turns: Iterable[Turn] = _ass(lines, out)
    elif source.suffix == "lrc":
        turns = _lrc(lines, out)
    elif source.suffix == "sub" and any(_FRAMES.match(line) for line in lines[:20]):
        turns = _frames(lines)
    else:
        turns = _cues(lines, out)
    write_turns(turns, out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def write_turns(turns: Iterable[Turn], out: TextBuilder) -> None:
    """Adds turns as blocks: joined while the same person goes on, to whole sentences.

    ``Block.part`` is ``"00:01:05 Anna"``; a speaker's name stands before the first words as well.
    """
    held: list[str] = []
    first: Turn | None = None
    last: Turn | None = None
    size = 0
    for turn in turns:
        same = (last is not None and turn.speaker == last.speaker
                and not (turn.start is not None and last.start is not None
                         and not 0 <= turn.start - last.start <= _PAUSE + 7))
        if last is not None and same and turn.text == last.text:
            continue  # rolling captions say each line twice
        ended = size > _LONG or (size > _LONG // 3 and held and _SENTENCE_END.search(held[-1]) is not None)
        if first is not None and (not same or ended or turn.stamp):
            _write(first, held, out)
            held, first, size = [], None, 0
        first = first or turn
        held.append(turn.text)
        size += len(turn.text)
        last = turn
        if out.full:
            return
    if first is not None:
        _write(first, held, out)


def _write(first: Turn, held: list[str], out: TextBuilder) -> None:
    clock = first.stamp or (clock_of(first.start) if first.start is not None else "")
    text = " ".join(held) if not first.stamp else "\n".join(held)
    out.add(f"{first.speaker}: {text}" if first.speaker else text, part=f"{clock} {first.speaker}".strip())


def clock_of(seconds: float) -> str:
    """Gives ``HH:MM:SS``."""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def seconds_of(clock: str) -> float:
    """Reads ``[H:]M:S[.mmm]`` as seconds."""
    total = 0.0
    for piece in clock.replace(",", ".").split(":"):
        total = total * 60 + float(piece)
    return total


def _cues(lines: list[str], out: TextBuilder) -> Iterator[Turn]:
    """Reads srt, vtt and sbv: a line of times, then text up to a blank line or the next times."""
    start: float | None = None
    held: list[str] = []
    skipping = False
    speaker = ""
    for number, line in enumerate(lines):
        match = _ARROW.match(line) or _SBV.match(line)
        if match:
            if held and _NUMBER.match(held[-1]):  # the number of the next cue, without a blank line before
                held.pop()
            for turn in _parted(start, held, speaker):
                speaker = turn.speaker
                yield turn
            start, held, skipping = seconds_of(match.group(1)), [], False
        elif number == 0 and line.startswith("WEBVTT"):
            out.title = one_line(line[6:].lstrip(" -\t")) if line[6:].strip() != "FILE" else ""
            skipping = True
        elif line.startswith(("NOTE", "STYLE", "REGION")) and not held and start is None:
            skipping = True
        elif not line.strip():
            for turn in _parted(start, held, speaker):
                speaker = turn.speaker
                yield turn
            if held:
                start = None
            held, skipping = [], False
        elif not skipping and not (start is None and (_NUMBER.match(line) or _names_cue(lines, number))):
            held.append(line)
    yield from _parted(start, held, speaker)


def _names_cue(lines: list[str], number: int) -> bool:
    """Tells whether a line is the identifier of the cue whose times follow."""
    return number + 1 < len(lines) and bool(_ARROW.match(lines[number + 1]))


def _parted(start: float | None, held: list[str], speaker: str) -> Iterator[Turn]:
    """Gives a cue as one turn for each speaker in it."""
    said: list[str] = []
    who = ""
    for line in held:
        voice = _VOICE.search(line)
        plain = " ".join(html.unescape(_ASS_TAG.sub("", _TAG.sub("", line))).split())
        named = None if voice else _SPOKEN.match(plain)
        if voice or (named and _is_name(named.group(1))):
            if said:
                yield Turn(start, who, " ".join(said))
                said = []
            who = one_line(voice.group(1) if voice else named.group(1) if named else "", 60)
            if named and not voice:
                plain = plain[named.end() :]
        if plain:
            said.append(plain)
    if said:
        yield Turn(start, who, " ".join(said))


def _is_name(text: str) -> bool:
    """Tells a speaker's name from a sentence with a colon: up to three words, each with a capital."""
    words = text.split()
    return len(words) <= 3 and all(word[:1].isupper() or not word[:1].isalpha() or not word[:1].islower()
                                   for word in words)


def _ass(lines: list[str], out: TextBuilder) -> Iterator[Turn]:
    """Reads Sub Station Alpha: the Format line of [Events] tells the columns."""
    columns = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    events = False
    for line in lines:
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if line.startswith("["):
            events = line.strip().lower() == "[events]"
        elif not colon:
            continue
        elif key == "title" and not events:
            out.title = one_line(value) if value.strip().lower() not in {"default aegisub file", "<untitled>"} else ""
        elif key == "format" and events:
            columns = [name.strip().lower() for name in value.split(",")]
        elif key == "dialogue" and events:
            cells = dict(zip(columns, value.split(",", len(columns) - 1), strict=False))
            said = _ASS_BREAK.sub(" ", _ASS_TAG.sub("", cells.get("text", "")))
            if re.search(r"\{[^}]*\\p[1-9]", cells.get("text", "")[:200]):
                continue  # a drawing
            clock = cells.get("start", "").strip()
            start = seconds_of(clock) if re.fullmatch(_CLOCK, clock) else None
            if said.strip():
                yield Turn(start, one_line(cells.get("name") or cells.get("actor") or "", 60), " ".join(said.split()))


def _lrc(lines: list[str], out: TextBuilder) -> Iterator[Turn]:
    found: list[Turn] = []
    for line in lines:
        tag = _LRC_TAG.match(line)
        if tag:
            if tag.group(1).lower() == "ti":
                out.title = one_line(tag.group(2))
            elif tag.group(1).lower() in {"ar", "al", "au"} and tag.group(2).strip():
                out.metadata.append((tag.group(1).lower(), tag.group(2)))
                out.add(tag.group(2).strip(), BlockKind.HEADER)
            continue
        match = _LRC.match(line)
        said = re.sub(r"<[\d:.]{1,15}>", "", match.group(2) if match else line).strip()
        if said:
            clocks = re.findall(r"\d{1,3}:\d{2}(?:[.:]\d{1,3})?", match.group(1)) if match else []
            clock = re.sub(r"^(\d+:\d+):", r"\1.", clocks[0]) if clocks else ""
            found.append(Turn(seconds_of(clock) if clock else None, "", said))
    yield from sorted(found, key=lambda turn: turn.start if turn.start is not None else -1.0)


def _frames(lines: list[str]) -> Iterator[Turn]:
    """Reads MicroDVD; frames become seconds at 25 a second unless the first line tells the rate."""
    rate = 25.0
    for line in lines:
        match = _FRAMES.match(line)
        if not match:
            continue
        said = " ".join(_ASS_TAG.sub("", match.group(2)).replace("|", " ").split())
        if match.group(1) in {"0", "1"} and re.fullmatch(r"\d{2}(?:\.\d{1,3})?", said):
            rate = float(said)
        elif said:
            yield Turn(int(match.group(1)) / rate, "", said)


# ---------------------------------------------------------------- transcripts and chats in plain text

_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_NAME = r"[^\n:：\[\]<>]{1,60}?"
_LINES = (
    # [00:12:31] Anna: text   and   [31.12.20, 22:15:03] Anna: text   and   (00:12) Anna: text
    re.compile(rf"^\s*[\[(](?P<time>(?:{_DAY},?\s+)?{_TIME})(?:\s*-->?\s*{_TIME})?[\])]\s*-?\s*(?P<name>{_NAME})[:：](?:\s+|$)(?P<text>.*)$"),
    # 31.12.20, 22:15 - Anna: text
    re.compile(rf"^\s*(?P<time>{_DAY},?\s+{_TIME})\s+-\s+(?P<name>{_NAME})[:：]\s(?P<text>.*)$"),
    # 00:12:31 Anna: text   and   10:15:22 From Anna to Everyone: text
    re.compile(rf"^\s*(?P<time>(?:{_DAY},?\s+)?{_TIME})\s+(?:-\s+)?(?:[Ff]rom\s+)?(?P<name>[^\W\d_]{_NAME})(?:\s+[Tt]o\s+[^\n:]{{1,60}})?\s*[:：]\s(?P<text>.*)$"),
    # [10:15] <anna> text
    re.compile(rf"^\s*\[?(?P<time>(?:{_DAY},?\s+)?{_TIME})\]?\s+<[@+ ]?(?P<name>[^\s<>]{{1,60}})>\s(?P<text>.*)$"),
    # Anna (00:12:31): text   and   Anna [00:12:31]: text
    re.compile(rf"^\s*(?P<name>[^\W\d_][^\n:：\[\]()<>]{{0,60}}?)\s*[\[(](?P<time>{_TIME})[\])]\s*[:：]?\s*(?P<text>.*)$"),
    # Anna   0:05 (the words follow on the next lines)
    re.compile(rf"^(?P<name>[^\W\d_][\w.'’ -]{{0,40}}?)\s{{2,}}(?P<time>{_TIME})(?P<text>)$"),
)
_BARE = re.compile(rf"^\s*[\[(](?P<time>{_TIME})[\])]\s*(?P<text>\S.*)$")  # [00:12:31] text without a name
_FEWEST = 3
_SAMPLE_LINES = 400


def transcript(text: str) -> list[Turn] | None:
    """Gives the turns of a plain text that is a transcript or an exported chat, else None.

    It is one when at least three lines begin with a time and a name (or a time in brackets), and
    such lines are a fifth of the lines with words or more.
    """
    lines = text.split("\n")
    sample = [line for line in lines[:_SAMPLE_LINES] if line.strip()]
    best, most = None, 0
    for pattern in (*_LINES, _BARE):
        count = sum(1 for line in sample if pattern.match(line[:400]))
        if count > most:
            best, most = pattern, count
    if best is None or most < _FEWEST or most < len(sample) / 5:
        return None
    return list(_turns(lines, best))


def _turns(lines: list[str], pattern: re.Pattern[str]) -> Iterator[Turn]:
    time, name, held = "", "", []  # type: str, str, list[str]
    for line in lines:
        match = pattern.match(line[:400])
        if match:
            yield from _said(time, name, held)
            time, name = " ".join(match["time"].split()), one_line(match.groupdict().get("name") or "", 60)
            held = [match["text"] + line[400:]]
        else:
            held.append(line)
    yield from _said(time, name, held)


def _said(time: str, name: str, held: list[str]) -> Iterator[Turn]:
    text = "\n".join(held).strip()
    if not text:
        return
    if not time or re.fullmatch(_CLOCK, time) is None:
        yield Turn(None, name, text, time)
    else:
        start = seconds_of(time if time.count(":") == 2 else f"0:{time}")
        yield Turn(start, name, text, clock_of(start))
