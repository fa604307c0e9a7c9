from __future__ import annotations

import codecs
import time
from pathlib import Path

import pytest

from sbert_desktop.extraction import extract
from sbert_desktop.extraction._encoding import decode, is_binary
from tests.extraction.encoding_texts import TEXTS, samples

GERMAN = "Die Straße führt über große Brücken und schöne Hügel, während die Mädchen spielen. „Ja“ – natürlich."
RUSSIAN = "Вчера вечером мы долго гуляли по берегу реки и говорили о книгах, которые прочитали летом."
CASES = [
    (GERMAN, "cp1252"), (GERMAN, "utf-8"), (GERMAN, "utf-16-le"), (GERMAN, "utf-16-be"), (GERMAN, "utf-32-le"),
    ("Die Straße führt über große Brücken und schöne Hügel, während die Mädchen spielen.", "cp850"),
    ("Le garçon est allé à l’école près de la forêt, où il a mangé.", "cp1252"),
    ("Le garçon est allé à l’école près de la forêt, où il a mangé.", "mac_roman"),
    ("El niño comió una piña por la mañana; ¿qué más quería? ¡Nada!", "cp1252"),
    ("price 5€ and “quotes”, it’s fine", "cp1252"), ("Müller", "cp1252"), ("Größe", "cp1252"),
    ("Smörgåsbord är gott på jul och våren är fin i Malmö", "cp1252"),
    ("Zażółć gęślą jaźń, proszę państwa, to jest próba kodowania znaków w języku polskim", "cp1250"),
    ("Příliš žluťoučký kůň úpěl ďábelské ódy, a tohle je zkouška kódování českého jazyka", "cp1250"),
    ("Güneşli günler ve ağaçlar için şarkılar söylüyoruz, çünkü bahar geldi", "cp1254"),
    *[(RUSSIAN, page) for page in ("cp1251", "koi8_r", "cp866", "iso8859_5")],
    ("Χθες το βράδυ περπατήσαμε για πολλή ώρα δίπλα στο ποτάμι και μιλήσαμε για βιβλία", "cp1253"),
    ("אתמול בערב הלכנו לאורך הנהר ודיברנו על ספרים שקראנו בקיץ", "cp1255"),
    ("مشينا مساء أمس طويلا على ضفة النهر وتحدثنا عن الكتب", "cp1256"),
    ("เมื่อวานนี้เราเดินเล่นริมแม่น้ำและคุยกันเรื่องหนังสือ", "cp874"),
    ("昨天晚上我们在河边走了很长时间,谈论夏天读过的书。", "gb18030"),
    ("昨天晚上我們在河邊走了很長時間,談論夏天讀過的書。", "big5"),
    ("昨日の夜、私たちは川のほとりを長い間歩き、夏に読んだ本について話しました。", "cp932"),
    ("昨日の夜、私たちは川のほとりを長い間歩き、夏に読んだ本について話しました。", "euc_jp"),
    ("昨日の夜、川のほとりを歩きました。", "iso2022_jp"),
    ("어제 저녁 우리는 강가를 오래 걸으며 여름에 읽은 책에 대해 이야기했습니다.", "cp949"),
]


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_encoding_is_found_without_a_label(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding))[0] == text


def test_byte_order_mark_wins_and_is_gone() -> None:
    assert decode(codecs.BOM_UTF8 + b"caf\xc3\xa9", "cp1252")[0] == "café"
    assert decode(codecs.BOM_UTF16_BE + "kurz".encode("utf-16-be"))[0] == "kurz"


def test_declared_encoding_is_honoured_unless_the_bytes_say_otherwise(tmp_path: Path) -> None:
    assert decode("résumé".encode("cp1250"), "windows-1250") == ("résumé", "windows-1250")
    assert decode("résumé".encode(), "iso-8859-1")[0] == "résumé"
    assert decode("ﾃｽﾄ".encode("cp932"), "Shift_JIS")[0] == "ﾃｽﾄ"
    path = tmp_path / "declared.py"
    path.write_bytes("# -*- coding: koi8-r -*-\nимя = 1\n".encode("koi8-r"))
    assert "имя = 1" in extract(path).text


def test_a_few_broken_bytes_do_not_turn_utf8_into_a_code_page() -> None:
    data = ("Übergrößenträger " * 40).encode() + b"\xff\xfe!"
    assert decode(data)[0].startswith("Übergrößenträger")


@pytest.mark.parametrize(("data", "binary"), [
    (bytes(range(256)) * 8, True), (b"\x7fELF\x02\x01\x01\x00" + b"\0" * 100, True), (b"plain text\n" * 10, False),
    ("Прямой текст".encode("cp1251"), False), ("UTF-16 text without a mark".encode("utf-16-le"), False), (b"", False),
])
def test_binary_is_told_from_text(data: bytes, binary: bool) -> None:
    assert is_binary(data) is binary


def _is_telling(text: str, encoding: str) -> bool:
    """Tells whether the bytes say anything about their encoding at all."""
    data = text.encode(encoding)
    return any(byte > 127 or byte in {0, 0x1B} for byte in data)


def test_encodings_of_many_languages_are_found_at_every_length() -> None:
    """25 languages and 45 encodings, from 25 characters on; counts how many are right."""
    tried = [(language, encoding, text) for language, encoding, text in samples() if _is_telling(text, encoding)]
    wrong = [(language, encoding, len(text), decode(text.encode(encoding))[1])
             for language, encoding, text in tried if decode(text.encode(encoding))[0] != text]
    assert len({language for language, _, _ in tried}) >= 25
    assert len({encoding for _, encoding, _ in tried}) >= 40
    assert len(wrong) <= 0.01 * len(tried), wrong
    # Short ones may be ambiguous; of longer ones only the Romanian page that nobody used is taken for another.
    assert [entry for entry in wrong if entry[2] >= 60 and entry[1] != "iso8859_16"] == []


@pytest.mark.parametrize("language", ["ja", "zh", "zh-hant", "ko", "th", "ru", "ar", "en"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le"])
def test_wide_text_without_a_mark_is_not_binary(language: str, encoding: str) -> None:
    text = TEXTS[language][0] if language in TEXTS else "Plain English words and nothing else in here."
    assert not is_binary(text.encode(encoding))
    assert decode(text.encode(encoding))[0] == text


def test_utf8_is_never_taken_for_anything_else() -> None:
    for text, _ in TEXTS.values():
        for cut in range(3, len(text), 7):
            assert decode(text[:cut].encode())[0] == text[:cut]


def test_guessing_a_large_file_costs_little() -> None:
    began = time.process_time()
    for language, encoding in (("ru", "cp1251"), ("de", "cp1252"), ("zh", "gb18030"), ("ja", "cp932")):
        decode((TEXTS[language][0] * 5000).encode(encoding))
    assert time.process_time() - began < 30


def test_short_lists_of_japanese_names_are_not_cyrillic() -> None:
    text = "名前,年齢,住所\r\n鈴木花子,30,京都\r\n高橋次郎,25,大阪\r\n"
    assert decode(text.encode("cp932"))[0] == text
