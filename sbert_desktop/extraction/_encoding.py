"""Bytes to text: which encoding a file without a label is written in.

Order: a byte order mark, UTF-16/32 without one, ISO-2022, a declaration inside the file, UTF-8, and
only then guessing among the old code pages. The guess among the Latin ones is ours, because
charset-normalizer takes German cp1252 for cp1250 (measured, DESIGN section 11): the language that the
plain letters show names the code page.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from sbert_desktop.extraction._language import likely_language

_SAMPLE = 32 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ISO_2022 = re.compile(rb"\x1b(?:\$[@B]|\([BIJ]|\$\([CDOPQ])")
_HIGH = re.compile(rb"[\x80-\xff]")
_LETTER = re.compile(rb"[A-Za-z]")
_NOT_CONTROL = bytes(byte for byte in range(256) if (byte >= 32 and byte != 127) or byte in b"\t\n\x0b\f\r\x1b")

# The letters beyond a-z of languages in Latin script: a page is right when all its high bytes are letters of one of
# them. Compiled by us from the languages' alphabets.
_LETTERS_OF = {language: frozenset(letters + letters.upper()) for language, letters in {
    "de": "äöüß", "fr": "àâçéèêëîïôùûüÿœæ", "es": "áéíóúüñ", "pt": "áâãàçéêíóôõúü", "it": "àèéìòùî", "sv": "åäöé",
    "da": "æøåé", "nl": "éëïöüèê", "is": "áéíóúýþæöð", "ca": "àçéèíïóòúü", "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž",
    "sk": "áäčďéíľĺňóôŕšťúýž", "hu": "áéíóöőúüű", "ro": "ăâîșțşţ", "hr": "čćžšđ", "sq": "ëç", "tr": "çğıöşüâîİ",
    "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äöõüšž",
    "vi": "àáâãèéêìíòóôõùúýăđĩũơư\u0300\u0301\u0303\u0309\u0323",
}.items()}
_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "iso8859_2", "iso8859_13", "iso8859_16", "iso8859_15", "cp850",
          "mac_roman", "cp852", "cp857", "cp1258")
_SIGNS_OF_TEXT = frozenset("«»–—…€£§°©®·•\xa0¿¡“”„‘’‚")
_SURE = 0.55
_LATIN_SAMPLE = 6000
_OTHER_SCRIPTS = (
    "cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic", "cp1253", "iso8859_7", "cp1255", "cp1256",
    "iso8859_6", "cp874",
    "cp932", "euc_jp", "gb18030", "big5", "cp949",
)
_ALIASES = {"shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "gb2312": "gb18030",
            "gbk": "gb18030", "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252",
            "ascii": "cp1252", "iso-8859-9": "cp1254", "ks_c_5601-1987": "cp949", "euc-kr": "cp949",
            "big5": "big5hkscs", "tis-620": "cp874", "windows-874": "cp874", "x-mac-roman": "mac_roman",
            "unicode": "utf-16"}


def is_binary(head: bytes) -> bool:
    """Tells whether bytes are not text in any encoding that is read here.

    Looks at the share of control characters; UTF-16 and UTF-32 text is text.
    """
    if not head or head.startswith(tuple(mark for mark, _ in _BOMS)) or _wide_encoding(head):
        return False
    return len(head.translate(None, _NOT_CONTROL)) > len(head) // 200


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """Gives the text of bytes and the name of the encoding used. Never fails.

    Args:
        data: All bytes of the file.
        declared: The encoding that the file itself names (XML declaration, HTML meta), if any.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data.decode(name, "replace"), name
    wide = _wide_encoding(data[:4096])
    if wide:
        return data.decode(wide, "replace"), wide
    if b"\x1b" in data and _ISO_2022.search(data):
        for name in ("iso2022_jp_2", "iso2022_kr"):
            try:
                return data.decode(name), name
            except (UnicodeDecodeError, LookupError):
                continue
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    text = _decode_declared(data, declared)
    if text is not None:
        return text, declared.lower()
    if _mostly_utf8(data):
        return data.decode("utf-8", "replace"), "utf-8"
    name = _guess(data)
    return data.decode(name, "replace"), name


def known_encoding(name: str) -> str:
    """Gives Python's name for a declared encoding, ``""`` if it knows none."""
    name = name.strip().strip("\"'").lower()
    name = _ALIASES.get(name, name)
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""


def _decode_declared(data: bytes, declared: str) -> str | None:
    name = known_encoding(declared)
    if not name or name.startswith(("utf", "base64", "hex", "rot", "zlib", "bz2", "quopri", "uu", "punycode", "idna")):
        return None
    try:
        text = data.decode(name, "replace")
    except (UnicodeError, LookupError, ValueError):
        return None
    return text if text.count("\ufffd") <= len(text) // 100 else None


def _wide_encoding(head: bytes) -> str:
    """Finds UTF-16 and UTF-32 without a mark by where their zero bytes stand."""
    head = head[: len(head) // 4 * 4] if len(head) >= 4 else head[: len(head) // 2 * 2]
    if len(head) < 4:
        return ""
    if ideographs := _wide_ideographs(head[:512]):
        return ideographs
    if b"\0" not in head:
        return ""
    count = len(head) // 4
    zeros = [sum(1 for byte in head[lane::4] if byte == 0) for lane in range(4)]
    if zeros[2] + zeros[3] > 1.8 * count and zeros[0] < count // 2:
        return _checked(head, "utf-32-le")
    if zeros[0] + zeros[1] > 1.8 * count and zeros[3] < count // 2:
        return _checked(head, "utf-32-be")
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if odd > 4 * even and odd > count * 2 // 20:
        return _checked(head, "utf-16-le")
    if even > 4 * odd and even > count * 2 // 20:
        return _checked(head, "utf-16-be")
    return ""


def _checked(head: bytes, name: str) -> str:
    """Gives the name if the bytes decode to text in it: tables of small numbers are not UTF-16."""
    text = head.decode(name, "replace")
    odd = sum(1 for char in text if char == "\ufffd" or (char < " " and char not in "\t\n\r\f"))
    return name if odd <= len(text) // 100 else ""


def _mostly_utf8(data: bytes) -> bool:
    """Tells UTF-8 with a few broken bytes from a code page: 20 good sequences for each bad one."""
    text = data[: 8 * _SAMPLE].decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(1 for char in text if char > "\x7f") - bad
    return good > 20 * bad


def _guess(data: bytes) -> str:
    sample = _telling_part(data)
    high, plain = len(_HIGH.findall(sample)), len(_LETTER.findall(sample))
    double = _looks_double_byte(sample)
    other = double or (high > 0.35 * (high + plain) and not (high < 6 and high <= plain))
    if other and high > 0.6 * plain and (name := _guess_other_script(sample)):
        return name
    latin, fit = _guess_latin(sample[:_LATIN_SAMPLE])
    if other and high <= 0.6 * plain and not (fit > 0.9 or (fit > _SURE and not double)):
        return _guess_other_script(sample) or latin
    return latin


def _telling_part(data: bytes) -> bytes:
    """Gives the lines that hold high bytes, at most a sample's worth, with their neighbours."""
    if len(data) <= _SAMPLE:
        return data
    first = _HIGH.search(data)
    start = max(0, first.start() - 512) if first else 0
    start = data.rfind(b"\n", 0, start) + 1 if start else 0
    return data[start : start + _SAMPLE]


def _looks_double_byte(sample: bytes) -> bool:
    """Tells whether high bytes come in runs of even length, as East Asian text amid ASCII does."""
    runs = re.findall(rb"[\x80-\xff][\x40-\xff]*", sample)
    long_runs = sum(1 for run in runs if len(_HIGH.findall(run)) >= 4)
    return bool(runs) and long_runs >= 0.5 * len(runs)


def _guess_other_script(sample: bytes) -> str:
    candidates = list(_decodable(sample, _OTHER_SCRIPTS))
    if not candidates:
        return ""
    best, best_score = "", 0.0
    for name in candidates:
        score = _script_score(sample.decode(name, "ignore"), name)
        if score > best_score:
            best, best_score = name, score
    return best


def _decodable(sample: bytes, names: Iterable[str]) -> Iterable[str]:
    for name in names:
        text = sample.decode(name, "replace")
        cut = 1 if len(sample) >= _SAMPLE else 0  # the sample may end inside a character
        if text.count("\ufffd") <= cut + len(text) // 500:
            yield name


# Script of each single-byte page, and its most frequent letters in running text.
_CYRILLIC = ("\u0400-\u045f\u0490\u0491", set("оеаинтсрвл"))
_GREEK = ("\u0370-\u03ff", set("αοιετσνρςυή"))
_ARABIC = ("\u0620-\u06d3", set("اليمنوترهب"))
_RANGES = {
    "cp1251": _CYRILLIC, "koi8_r": _CYRILLIC, "koi8_u": _CYRILLIC, "mac_cyrillic": _CYRILLIC,
    "cp866": _CYRILLIC, "iso8859_5": _CYRILLIC,
    "cp1253": _GREEK, "iso8859_7": _GREEK,
    "cp1255": ("\u05b0-\u05ea", set("יוהלאתרמנב")),
    "cp1256": _ARABIC, "iso8859_6": _ARABIC,
    "cp874": ("\u0e00-\u0e5b", set("านรกอเงมยล่")),
}
_MIXED = re.compile(r"[A-Za-z](?=[^\x00-\x7f])|(?<=[^\x00-\x7f])[A-Za-z]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fc]")
_HALF_KANA = re.compile("[\uff61-\uff9f]")
_HAN = re.compile("[\u4e00-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_RARE = re.compile("[\u3400-\u4dbf\uf900-\ufaff\ue000-\uf8ff\u2500-\u257f\u0080-\u009f]|[\U00020000-\U0003ffff]")
_FULL_POINT = re.compile("[\u3001\u3002\uff0c\uff01\uff1f\uff08\uff09\u300c\u300d]")
# Frequent characters of running Chinese in each script: they only tell right from wrong decodings, in which
# they are rare. cp932 and euc_jp are told by their kana.

_FREQUENT = {
    "gb18030": frozenset(
        "一万三上下不与世业东两个中为主么之也了事二于五些产人什从他代以们会但位作你使便信儿先入全公关其内再军"
        "几出分到前力加动化北十却去又发口只可同名后向听和四回因国在地声外多大天太头女好如子学定实家对将小少就"
        "山工己已市平年并开当很得心情想意成我所手打把政教文新方无日时明是最月有本机来样次正此民气水没法海点然"
        "现理生用由电的相看真着知种第等经给美老者而能自行被西要见话说走起身过还这进道那部都里重长门问间面高"),
    "big5": frozenset(
        "一三上下不世並中主之也了事二五些人什他代以但位作你使來便信個們先兒入內全兩公其再出分到前力加動化北十"
        "卻去又口只可同名向和問四回因國在地外多大天太女好如子學定家實將對小少就山工己已市平年幾很後得從心情想"
        "意成我所手打把政教文新方於日明是時最會月有本東業樣機次正此民氣水沒法海為無然現理生產用由當發的相看真"
        "知種第等給經美老者而聲聽能自與萬著行被西要見話說走起身軍這進過道還那部都里重長門開間關電面頭高麼點"),
}


def _script_score(text: str, name: str) -> float:
    """Scores how much a decoded sample looks like running text of the encoding's script, 0 to 1."""
    letters = [char for char in text if char > "\x7f"]
    if not letters:
        return 0.0
    total = len(letters)
    rare = len(_RARE.findall(text)) / total
    if name in _RANGES:
        letters_of, frequent = _RANGES[name]
        inside = len(re.findall(f"[{letters_of}]", text)) / total
        common = sum(1 for char in letters if char.lower() in frequent) / total
        shouting = 0.75 if sum(1 for char in letters if char.isupper()) > 0.6 * total else 1.0
        unusual = 0.02 if name == "mac_cyrillic" else 0.0  # all bytes are letters in it: in doubt it is another
        mixed = len(_MIXED.findall(text)) / total  # half of a double-byte character is often an ASCII letter
        return (inside - rare - mixed - _case_noise(text)) * (0.4 + min(common, 0.5)) * shouting - unusual
    kana, half = len(_KANA.findall(text)) / total, len(_HALF_KANA.findall(text)) / total
    han, hangul = len(_HAN.findall(text)) / total, len(_HANGUL.findall(text)) / total
    points = len(_FULL_POINT.findall(text)) / total
    if name in {"cp932", "euc_jp"}:
        score = min(1.0, 1.6 * kana) * 0.6 + min(1.0, kana + han + points) * 0.4 - 1.5 * half
        if kana == 0 and han > 0.7 and half == 0:  # a list of Japanese names
            score = 0.45
    elif name == "cp949":
        everyday = sum(1 for char in letters if "\uac00" <= char <= "\ud7a3" and _is_everyday_hangul(char)) / total
        score = everyday + points / 2 - (hangul - everyday) - 0.5 * han
    else:
        usual = sum(1 for char in letters if char in _FREQUENT[name]) / total
        score = 0.3 * (han + points) + min(1.0, 2.5 * usual) * 0.7 - kana
    return score - 2 * rare


def _is_everyday_hangul(char: str) -> bool:
    """Tells the 2,350 syllables of KS X 1001 from the rest that cp949 adds."""
    try:
        return len(char.encode("euc_kr")) == 2  # the codec spells the others out in eight bytes
    except UnicodeEncodeError:
        return False


def _case_noise(text: str) -> float:
    """Share of letters that are capital after a small one: wrong single-byte pages mix them."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    letters = sum(len(word) for word in words)
    noise = sum(1 for word in words for a, b in pairwise(word) if a.islower() and b.isupper())
    return noise / letters if letters else 0.0


def _guess_latin(sample: bytes) -> tuple[str, float]:
    """Gives the best page of Latin script, and how well it fits one language, up to about 1."""
    best, best_score = "", -9.0
    for name in _LATIN:
        text = sample.decode(name, "replace")
        score = _latin_score(text, name)
        if score > best_score + 0.02:  # in doubt the one that comes first, the most usual
            best, best_score = name, score
    if best_score <= 0 and "\ufffd" in sample.decode("cp1252", "replace"):
        return "latin-1", best_score
    return (best if best_score > 0 else "cp1252"), best_score


def _latin_score(text: str, page: str) -> float:
    """Scores how well the high characters of a text are the letters of one language, each in its place."""
    letters: Counter[str] = Counter()
    total, signs = 0, 0.0
    for match in _NOT_ASCII.finditer(text):
        total += 1
        char, at = match.group(), match.start()
        before = text[at - 1] if at else " "
        after = text[at + 1] if at + 1 < len(text) else " "
        inside = before.isalpha() and after.isalpha()
        if char.isalpha() or "\u0300" <= char <= "\u0323":
            if char.isupper() and before.islower():
                signs -= 1.7
            else:
                letters[char] += 1
        elif char in "’‘":
            signs += 0.9 if inside or before.isalpha() or after.isalpha() else 0.4
        elif char in _SIGNS_OF_TEXT:
            signs += -1.5 if inside else 0.7 if char in "“”„«»¿¡–—…€\xa0" else 0.4
        else:
            signs -= 1.5
    if not total:
        return 0.0
    if not letters:
        return signs / total
    language = _language_of(text)
    most = max(
        sum(count if char in own else -1.2 * count for char, count in letters.items())
        + (0.25 * total if name == language else 0.0) - (0.1 * total if name == "vi" else 0.0)
        for name, own in _LETTERS_OF.items() if page != "cp1258" or name == "vi")
    return (most + signs) / total


_SAME_LETTERS = {"no": "da", "nb": "da", "nn": "da", "fi": "sv", "bs": "hr", "sl": "hr", "gl": "es", "az": "tr"}


def _language_of(text: str) -> str:
    language = likely_language(text)
    return _SAME_LETTERS.get(language, language)


def _wide_ideographs(head: bytes) -> str:
    """Finds UTF-16 without a mark in scripts whose text has no zero bytes: Chinese, Japanese, Thai."""
    head = head[: len(head) // 2 * 2]
    if len(head) < 8 or (not _CONTROL.search(head) and _is_utf8(head)):
        return ""
    shares = {name: _telling_share(head, name) for name in ("utf-16-le", "utf-16-be")}
    best = max(shares, key=lambda name: shares[name])
    if shares[best] < _TELLING_SHARE:
        return ""
    rivals = ("gb18030", "big5", "cp932", "euc_jp")
    return best if shares[best] > max(_telling_share(head, name) for name in rivals) else ""


def _is_utf8(head: bytes) -> bool:
    """Tells whether bytes that may end inside a character are UTF-8."""
    return "\ufffd" not in head.decode("utf-8", "replace")[:-1]


def _telling_share(head: bytes, name: str) -> float:
    """Gives the share of everyday East Asian characters, 0 where a decoding holds what such text does not."""
    text = head.decode(name, "replace")
    if len(_WIDE.findall(text)) < 0.95 * len(text) - 1:
        return 0.0
    return sum(1 for char in text if char in _EVERYDAY or _TELLING.match(char)) / len(text)


_TELLING_SHARE = 0.12
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_WIDE = re.compile("[\t\n\r -~\u0e00-\u0e7f\u2010-\u203f\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_TELLING = re.compile("[\u0e01-\u0e4e\u3041-\u30ff\u3001\u3002\uff0c]")
_EVERYDAY = _FREQUENT["gb18030"] | _FREQUENT["big5"]
