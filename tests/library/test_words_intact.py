"""What a person types is found as it stands: codes, versions, accents, forms of words, signs without spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.library import Library, open_library

from .makers import put_text, start

# name: language, text
TEXTS = {
    "code": ("en", "Please order part AB-12/7 and the gasket XK900-B, not AB-12/8."),
    "other code": ("en", "Please order part AB-12/8 and the gasket XK901-B."),
    "version": ("en", "Upgrade SQLite to 3.40.1 before numpy 1.26.4 is installed."),
    "other version": ("en", "Upgrade SQLite to 3.41.0 before numpy 2.1.3 is installed."),
    "languages": ("en", "Written in C++ and C#, with a wrapper in .NET."),
    "plain c": ("en", "Vitamin C and the letter D."),
    "address": ("en", "Mail max.m@example.org or see /etc/fstab and user_name."),
    "french": ("fr", "Les écoles françaises étaient fermées, dit l’élève à Noël."),
    "german": ("de", "Die Häuser in den Straßen von Köln wurden verkauft; die Verträge liegen bei."),
    "spanish": ("es", "Los niños corrieron hacia las canciones de la mañana."),
    "russian": ("ru", "Книги лежали на столах, а студентки читали письма; ёлка горела."),
    "vietnamese": ("vi", "Đường phố Hà Nội về đêm."),
    "polish": ("pl", "Zażółć gęślą jaźń, łódź płynie."),
    "turkish": ("tr", "İstanbul'da kitapları okudum."),
    "greek": ("el", "Η Ελληνική Δημοκρατία και οι άνθρωποι."),
    "chinese": ("zh", "我喜欢北京烤鸭，也喜欢上海的早晨。"),
    "japanese": ("ja", "図書館で猫の写真を見つけました。データベース。"),
    "korean": ("ko", "서울에서 도서관을 찾았습니다."),
    "thai": ("th", "ฉันรักห้องสมุด"),
    "arabic": ("ar", "ذهبت إلى المكتبة مع الكتب"),
}

FOUND = [
    ("AB-12/7", ["code"]),
    ("ab-12/7", ["code"]),
    ("XK900-B", ["code"]),
    ("xk901-b", ["other code"]),
    ("3.40.1", ["version"]),
    ("1.26.4", ["version"]),
    ("3.41.0", ["other version"]),
    ("C++", ["languages"]),
    ("c#", ["languages"]),
    ("max.m@example.org", ["address"]),
    ("/etc/fstab", ["address"]),
    ("user_name", ["address"]),
    ("ecole", ["french"]),
    ("école", ["french"]),
    ("ÉCOLES", ["french"]),
    ("français", ["french"]),
    ("fermer", ["french"]),
    ("eleve", ["french"]),
    ("noel", ["french"]),
    ("Haus", ["german"]),
    ("HÄUSER", ["german"]),
    ("strasse", ["german"]),
    ("Straße", ["german"]),
    ("koln", ["german"]),
    ("Vertrag", ["german"]),
    ("niño", ["spanish"]),
    ("nino", ["spanish"]),
    ("canción", ["spanish"]),
    ("manana", ["spanish"]),
    ("книга", ["russian"]),
    ("книгами", ["russian"]),
    ("стол", ["russian"]),
    ("елка", ["russian"]),
    ("письмо", ["russian"]),
    ("ha noi", ["vietnamese"]),
    ("jazn", ["polish"]),
    ("gesla", ["polish"]),
    ("istanbul", ["turkish"]),
    ("ανθρωποι", ["greek"]),
    ("京", ["chinese"]),
    ("北京", ["chinese"]),
    ("烤鸭", ["chinese"]),
    ("早晨", ["chinese"]),
    ("喜欢北", ["chinese"]),
    ("猫", ["japanese"]),
    ("写真", ["japanese"]),
    ("図書館", ["japanese"]),
    ("データ", ["japanese"]),
    ("ﾃﾞｰﾀ", ["japanese"]),
    ("서울", ["korean"]),
    ("도서관", ["korean"]),
    ("ห้องสมุด", ["thai"]),
    ("المكتبة", ["arabic"]),
    ("犬", []),
    ("talking", []),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Library:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")
        with open_library(tmp_path_factory.mktemp("words") / "library") as library:
            (folder,) = start(library, Path("/docs"))
            with library.writer() as writer:
                for name, (language, text) in TEXTS.items():
                    put_text(writer, folder, Path(f"/docs/{name}"), [text], language=language)
            yield library  # type: ignore[misc]


def best(library: Library, query: str, count: int) -> list[str]:
    """The names of the documents found first; all of them when fewer."""
    ids, _, contents = library.snapshot("").keyword(query, None, 50)
    assert len(ids) >= count
    return [library.paths_of(int(content))[0].path.name for content in contents[: max(count, 1)]]  # type: ignore[arg-type]


@pytest.mark.parametrize(("query", "wanted"), FOUND)
def test_a_word_is_found_first_where_it_stands(filled: Library, query: str, wanted: list[str]) -> None:
    assert best(filled, query, len(wanted)) == wanted


@pytest.mark.parametrize(("query", "wanted"), [(q, w) for q, w in FOUND if w])
def test_what_was_found_is_marked(filled: Library, query: str, wanted: list[str]) -> None:
    text = TEXTS[wanted[0]][1]
    spans = filled.match_words(query, text)
    assert spans
    assert all(0 <= start < end <= len(text) for start, end in spans)


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("part AB-12/7", ["code"]),
        ("AB-12/8", ["code", "other code"]),
        ("sqlite to 3.40.1", ["version"]),
        ("c++ and c#", ["languages"]),
        ("ecoles francaises", ["french"]),
        ("l'eleve a noel", ["french"]),
        ("hauser in den strassen", ["german"]),
        ("Haus in den Straßen", []),
        ("北京烤鸭", ["chinese"]),
        ("猫の", ["japanese"]),
        ("鸭", ["chinese"]),
        ("서울에서 도서관을", ["korean"]),
        ("книги лежали", ["russian"]),
    ],
)
def test_a_phrase_is_found_as_it_stands(filled: Library, phrase: str, wanted: list[str]) -> None:
    found = filled.snapshot("").holding((phrase,), (), (), None)
    assert found is not None
    names = [filled.paths_of(content)[0].path.name for content in range(len(found.mask)) if found.mask[content]]  # type: ignore[arg-type]
    assert sorted(names) == sorted(wanted)
