"""Pictures: opened with limits, turned as the camera was held, and the words that were written into them.

What a picture shows is read by ``_ocr``; here are only its title, description, keywords and date, which cameras,
photo programs and scanners store beside the pixels (EXIF, XMP, IPTC, PNG text).
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, cast

from sbert_desktop.domain import ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import one_line, tidy
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._xml import local, root_of

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

MOST_PIXELS = 200_000_000
"""A picture of more pixels is not opened: 600 MB as colours, beyond what scanners and cameras make (150 million)."""
_PLUGINS = ("Png", "Jpeg", "Tiff", "WebP", "Bmp", "Gif")  # named, because others of Pillow's start programs
_BEGINNINGS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"GIF8", b"BM")
_HEIF = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_EXIF_FOLDER, _ORIENTATION = 0x8769, 0x0112  # Source: EXIF 2.32, section 4.6
_TAKEN, _ZONE, _CHANGED, _COMMENT = 0x9003, 0x9011, 0x0132, 0x9286
_DESCRIPTION, _XP_TITLE, _XP_COMMENT, _XP_KEYWORDS, _XP_SUBJECT = 0x010E, 0x9C9B, 0x9C9C, 0x9C9E, 0x9C9F
_TIME = re.compile(r"(\d{4})[:-](\d{2})[:-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})")
_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_OF_THE_CAMERA = re.compile(r"^(?:olympus|sony|minolta|konica|kodak|samsung|digital camera|dcim|default|untitled|"
                            r"image description|screenshot|created with|processed with|ascii|charset=|binary comment|"
                            r"lead technologies|file written by|\W*$|\d*$|<\?xml|\{)", re.IGNORECASE)
_XMP_LIMIT = 4 * 1024 * 1024


def read(source: Source) -> ExtractedText:
    """Gives what was written into a picture's file; the rest is the business of text recognition.

    Raises:
        ExtractionError: ``picture`` when nothing was written into it, ``damaged`` or ``too-large``.
    """
    out = TextBuilder("picture")
    with source.stream() as stream, opened(stream) as picture:  # its head alone: photos are many and large
        describe(picture, out)
    document = out.finish()
    if not document.text:
        raise failure("picture")
    out.note("picture")
    return out.finish()


def is_picture(data: bytes) -> bool:
    """Tells a picture of a kind that is opened by its first bytes."""
    return data.startswith(_BEGINNINGS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP") or (
        data[4:8] == b"ftyp" and data[8:12] in _HEIF)


@contextmanager
def opened(data: bytes | BinaryIO) -> Iterator[Image]:
    """Opens a picture without reading its pixels yet.

    Raises:
        ExtractionError: ``damaged`` or ``too-large``.
    """
    from PIL import Image, UnidentifiedImageError

    for name in _PLUGINS:
        import_module(f"PIL.{name}ImagePlugin")
    formats = [name.upper() for name in _PLUGINS]
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    if stream.read(8)[4:] == b"ftyp":
        import pi_heif

        pi_heif.register_heif_opener(thumbnails=False)
        formats = ["HEIF"]
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            stream.seek(0)
            picture = Image.open(stream, formats=formats)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large() from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise failure("damaged") from error
    try:
        yield picture
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        if isinstance(error, ExtractionError):
            raise
        raise failure("damaged") from error
    finally:
        picture.close()


def _too_large() -> ExtractionError:
    return failure("too-large", f"The picture has more than {MOST_PIXELS // 1_000_000} million pixels.", "")


def frames(picture: Image) -> int:
    """Counts the pages of a picture: only TIFF has any; the frames of an animation are not pages."""
    return int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1


def turned(picture: Image, most_pixels: int) -> Image:
    """Gives the picture as grey or RGB on white, turned as it was held, with at most so many pixels."""
    from PIL import Image, ImageOps

    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise _too_large()
    scale = min(1.0, (most_pixels / max(1, width * height)) ** 0.5)
    smaller = (max(1, round(width * scale)), max(1, round(height * scale)))
    if scale < 1.0 and picture.format in {"JPEG", "MPO"}:
        picture.draft(None, smaller)  # decodes at a half, a quarter ...
    if scale < 1.0 and picture.mode not in {"P", "PA"}:
        copy = picture.convert("L") if picture.mode == "1" else picture
        shown = copy.resize(smaller, Image.Resampling.BOX)
        shown.info.update(picture.info)
    else:
        shown = picture
    exif = picture.getexif()
    plain = _on_white(shown)
    way = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_270, 8: Image.Transpose.ROTATE_90,
           2: Image.Transpose.FLIP_LEFT_RIGHT, 4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
           7: Image.Transpose.TRANSVERSE}.get(exif.get(_ORIENTATION, 1))
    if way is not None and picture.format != "HEIF":  # pi_heif turns it itself
        plain = plain.transpose(way)
    if plain.size[0] * plain.size[1] > most_pixels:
        plain = ImageOps.contain(plain, smaller if way is None else (max(smaller), max(smaller)))
    return plain


def _on_white(picture: Image) -> Image:
    from PIL import Image

    if picture.mode in {"L", "RGB"}:
        return picture
    if picture.mode.startswith("I;16") or picture.mode in {"I", "F"}:
        low, high = (float(value) for value in picture.getextrema())  # type: ignore[arg-type]
        span = (high - low) or 1.0
        return picture.convert("F").point(lambda value: (value - low) * (255.0 / span)).convert("L")
    if picture.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in picture.info:
        clear = picture.convert("RGBA")
        page = Image.new("RGB", clear.size, (255, 255, 255))
        page.paste(clear, mask=clear.getchannel("A"))
        return page
    return picture.convert("L" if picture.mode == "1" else "RGB")


# ---------------------------------------------------------------- what was written into the file


def describe(picture: Image, out: TextBuilder) -> None:
    """Adds title, description, keywords and date of a picture; damaged notes are passed over."""
    title, texts, keywords = "", list[str](), list[str]()
    for reader in (_exif, _xmp, _iptc, _png):
        try:
            more_title, more_texts, more_keywords = reader(picture, out)
        except Exception:  # notes that nobody can read are no reason not to look at the others
            continue
        title = title or more_title
        texts += more_texts
        keywords += more_keywords
    title = title if _worth(title) else ""
    out.title = one_line(title)
    seen: set[str] = set()
    for text in [title, *texts, ", ".join(dict.fromkeys(word.strip() for word in keywords if word.strip()))]:
        clean = tidy(text).strip()
        if _worth(clean) and clean.casefold() not in seen:
            seen.add(clean.casefold())
            out.add(clean)


Notes = tuple[str, list[str], list[str]]


def _worth(text: str) -> bool:
    return len(text.strip()) > 2 and not _OF_THE_CAMERA.match(text.strip())


def _exif(picture: Image, out: TextBuilder) -> Notes:
    exif = picture.getexif()
    inner = exif.get_ifd(_EXIF_FOLDER)
    when = str(inner.get(_TAKEN) or exif.get(_CHANGED) or "")
    match = _TIME.match(when)
    if match:
        year, month, day, hour, minute, second = match.groups()
        zone = _OFFSET.fullmatch(str(inner.get(_ZONE) or "").strip())
        out.date = parse_date(f"{year}-{month}-{day}T{hour}:{minute}:{second}{zone.group() if zone else ''}")
    words = {tag: _sixteen(exif.get(tag)) for tag in (_XP_TITLE, _XP_SUBJECT, _XP_COMMENT, _XP_KEYWORDS)}
    described = _eight(exif.get(_DESCRIPTION))
    texts = [described, words[_XP_SUBJECT], words[_XP_COMMENT], _user_comment(inner.get(_COMMENT))]
    return words[_XP_TITLE], texts, re.split(r"[;,]", words[_XP_KEYWORDS])


def _sixteen(value: object) -> str:
    return bytes(value).decode("utf-16-le", "replace").rstrip("\0") if isinstance(value, bytes | tuple) else ""


def _eight(value: object) -> str:
    """Gives EXIF text; Pillow reads it as Latin-1 where most programs write UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").rstrip("\0")
    text = str(value or "").rstrip("\0")
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _user_comment(value: object) -> str:
    if not isinstance(value, bytes) or len(value) < 9:
        return ""
    kind, rest = value[:8].rstrip(b"\0 "), value[8:]
    if kind == b"UNICODE":
        return rest.decode("utf-16-be" if rest[:1] == b"\0" else "utf-16-le", "replace").rstrip("\0")
    return rest.decode("utf-8", "replace").rstrip("\0 ") if kind in {b"ASCII", b""} else ""


def _xmp(picture: Image, out: TextBuilder) -> Notes:
    raw = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp") or b""
    data = raw.encode("utf-8") if isinstance(raw, str) else bytes(raw)
    if not data or len(data) > _XMP_LIMIT:
        return "", [], []
    found: dict[str, list[str]] = {}
    root = root_of(data.strip(b"\0 "))
    for element in root.iter() if root is not None else ():
        name = local(element.tag)
        if name in {"title", "description", "subject", "Headline", "DateTimeOriginal", "CreateDate"}:
            found.setdefault(name, []).extend(str(text) for text in element.itertext() if str(text).strip())
        for key, value in element.attrib.items():
            if local(key) in {"Headline", "DateTimeOriginal", "CreateDate"}:
                found.setdefault(local(key), []).append(str(value))
    if out.date is None:
        for key in ("DateTimeOriginal", "CreateDate"):
            out.date = out.date if out.date is not None else parse_date((found.get(key) or [""])[0])
    titles = [*found.get("title", []), *found.get("Headline", [])]
    return (titles[0] if titles else ""), [*titles[1:], *found.get("description", [])], found.get("subject", [])


def _iptc(picture: Image, out: TextBuilder) -> Notes:
    from PIL import IptcImagePlugin

    if picture.format not in {"JPEG", "MPO", "TIFF"}:
        return "", [], []
    notes = IptcImagePlugin.getiptcinfo(cast("ImageFile", picture)) or {}

    def values(number: int) -> list[str]:
        value = notes.get((2, number), [])
        return [_eight(entry) for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, bytes)]

    titles = [*values(5), *values(105)]
    return (titles[0] if titles else ""), [*titles[1:], *values(120)], values(25)


def _png(picture: Image, out: TextBuilder) -> Notes:
    if picture.format != "PNG":
        return "", [], []
    notes = {str(key).lower(): value for key, value in picture.info.items() if isinstance(value, str)}
    return notes.get("title", ""), [notes.get("description", ""), notes.get("comment", "")], \
        re.split(r"[;,]", notes.get("keywords", ""))
