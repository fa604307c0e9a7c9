"""Subtitles and transcripts: time and speaker are the location, the words are the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction import extract


def read(folder: Path, name: str, text: str | bytes) -> ExtractedText:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return extract(path)


def parts(document: ExtractedText) -> list[tuple[str, str]]:
    return [(block.part, document.text[block.start : block.end]) for block in document.blocks]


def test_srt_cues_are_joined_to_sentences_and_tags_go(tmp_path: Path) -> None:
    srt = ("1\r\n00:01:05,000 --> 00:01:07,500\r\n<i>The harbour was</i>\r\nquiet that\r\n\r\n"
           "2\r\n00:01:08,000 --> 00:01:10,000\r\n{\\an8}evening &amp; cold.\r\n\r\n"
           "3\r\n01:30:00,000 --> 01:30:02,000\r\nMuch later.\r\n")
    assert parts(read(tmp_path, "a.srt", srt)) == [
        ("00:01:05", "The harbour was quiet that evening & cold."), ("01:30:00", "Much later.")]


def test_vtt_voices_notes_and_rolling_captions(tmp_path: Path) -> None:
    vtt = ("WEBVTT - The interview\n\nNOTE\nnot said\n\nSTYLE\n::cue { color: red }\n\nintro\n"
           "00:03.000 --> 00:05.000 A:start\n"
           "<v Anna Meier>Good <c.loud>morning</c>.\n\n00:05.000 --> 00:07.000\n<v Anna Meier>Good morning.\n\n"
           "00:08.000 --> 00:09.000\n<v Bob>Hello <00:08.500>there.</v>\n")
    document = read(tmp_path, "a.vtt", vtt)
    assert document.title == "The interview"
    assert parts(document) == [
        ("00:00:03 Anna Meier", "Anna Meier: Good morning."), ("00:00:08 Bob", "Bob: Hello there.")]


def test_sbv_ass_microdvd_and_lrc(tmp_path: Path) -> None:
    assert parts(read(tmp_path, "a.sbv", "0:00:01.000,0:00:03.000\nOne line\nand two\n\n")) == [
        ("00:00:01", "One line and two")]
    ass = ("[Script Info]\nTitle: The film\n[V4+ Styles]\nFormat: Name\nStyle: Default\n[Events]\n"
           "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
           "Dialogue: 0,0:01:05.50,0:01:08.00,Default,Anna,0,0,0,,{\\i1}Well, yes{\\i0}\\Nof course.\n"
           "Comment: 0,0:01:09.00,0:01:10.00,Default,,0,0,0,,unseen\n")
    document = read(tmp_path, "a.ass", ass)
    assert document.title == "The film"
    assert parts(document) == [("00:01:05 Anna", "Anna: Well, yes of course.")]
    assert parts(read(tmp_path, "a.sub", "{1}{1}25.000\n{250}{300}Ten seconds|in.\n")) == [
        ("00:00:10", "Ten seconds in.")]
    lrc = read(tmp_path, "a.lrc", "[ti:The song]\n[ar:The singer]\n[00:12.00]First line\n[00:14.00]second line\n")
    assert lrc.title == "The song"
    assert parts(lrc)[-1] == ("00:00:12", "First line second line")


def test_speakers_before_a_colon_are_named_and_sentences_with_a_colon_are_not(tmp_path: Path) -> None:
    srt = ("1\n00:00:01,000 --> 00:00:02,000\n- ANNA: Come in!\n- BOB: Thank you.\n\n"
           "2\n00:00:20,000 --> 00:00:22,000\nand remember this: never run\n")
    assert parts(read(tmp_path, "a.srt", srt)) == [
        ("00:00:01 ANNA", "ANNA: Come in!"), ("00:00:01 BOB", "BOB: Thank you."),
        ("00:00:20", "and remember this: never run")]


@pytest.mark.parametrize(("lines", "expected"), [
    (["[00:12:31] Anna: Hello", "all.", "[00:12:40] Bob: Hi.", "[00:13:00] Anna: Bye."],
     [("00:12:31 Anna", "Anna: Hello\nall."), ("00:12:40 Bob", "Bob: Hi."), ("00:13:00 Anna", "Anna: Bye.")]),
    (["31.12.20, 22:15 - Anna: Happy", "31.12.20, 22:16 - Bob Lee: new", "1.1.21, 00:01 - Anna: year"],
     [("31.12.20, 22:15 Anna", "Anna: Happy"),
      ("31.12.20, 22:16 Bob Lee", "Bob Lee: new"), ("1.1.21, 00:01 Anna", "Anna: year")]),
    (["10:15:22 From Anna to Everyone: One", "10:15:30 From Bob to Everyone: two",
      "10:16:00 From Anna to Everyone: three"],
     [("10:15:22 Anna", "Anna: One"), ("10:15:30 Bob", "Bob: two"), ("10:16:00 Anna", "Anna: three")]),
    (["Anna Meier  0:05", "Good morning.", "", "Bob  0:09", "Hello.", "", "Anna Meier  1:02:03", "Bye."],
     [("00:00:05 Anna Meier", "Anna Meier: Good morning."), ("00:00:09 Bob", "Bob: Hello."),
      ("01:02:03 Anna Meier", "Anna Meier: Bye.")]),
    (["[10:15] <anna> one", "[10:16] <bob> two", "[10:17] <anna> three"],
     [("00:10:15 anna", "anna: one"), ("00:10:16 bob", "bob: two"), ("00:10:17 anna", "anna: three")]),
])
def test_transcripts_and_chats_in_plain_text_keep_who_speaks_when(
        tmp_path: Path, lines: list[str], expected: list[tuple[str, str]]) -> None:
    assert parts(read(tmp_path, "talk.txt", "\n".join(lines) + "\n")) == expected


def test_prose_with_times_in_it_is_no_transcript(tmp_path: Path) -> None:
    text = "Timetable\n\nThe train leaves at 10:15: be there.\n\n" + "A long story follows here.\n\n" * 20
    assert all(part == "" for part, _ in parts(read(tmp_path, "a.txt", text)))
