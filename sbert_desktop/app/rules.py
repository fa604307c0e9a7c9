"""Which files of a folder are read: names that are never documents, and patterns in the manner of git.

Four sources of patterns, the nearer to the person the stronger: the folder's own rules, the files
``.sbertignore`` (the deeper one first), the files ``.gitignore`` if they are honoured, the setting for
all folders. Within one source the last line that matches decides, and ``!`` takes a file back in. A
folder that is left out is not entered, so nothing below it can be taken back in.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sbert_desktop.domain import FolderRules, display_path
from sbert_desktop.settings import Settings

IGNORE_FILE, GIT_FILE = b".sbertignore", b".gitignore"

HIDDEN, PATTERN, IGNORED, SYSTEM, LOCK, LINK, SPECIAL = (
    "hidden", "pattern", "ignore-file", "system", "lock-file", "link", "special",
)  # fmt: skip
"""Reasons for leaving a file out, as :class:`~sbert_desktop.app.views.LeftOutView` names them."""

_TEMPORARY_STARTS = (b"~$", b".~", b"._", b".#", b".goutputstream-", b".nfs0")
_TEMPORARY_ENDS = (
    b"~", b".tmp", b".temp", b".swp", b".swo", b".swx", b".crdownload", b".part", b".partial", b".filepart",
    b".download", b".opdownload",
)  # fmt: skip
"""Lock files of office programs and files that a program writes before it renames them over the real one.

Source: observed names of Word, LibreOffice, vim, Emacs, GNOME (GIO), rsync, Nextcloud and the browsers.
"""
_SYSTEM_FILES = frozenset((b"thumbs.db", b"ehthumbs.db", b"desktop.ini", b".ds_store", b".localized", b"icon\r"))
_SYSTEM_FOLDERS = frozenset(
    (b"$recycle.bin", b"system volume information", b"lost+found", b"__macosx", b".trashes", b".spotlight-v100",
     b".fseventsd", b".documentrevisions-v100", b".temporaryitems", b".stversions", b".dropbox.cache")
)  # fmt: skip
_TRASH = b".trash"

_MOST_BYTES, _MOST_LINES, _MOST_STARS = 256 * 1024, 5_000, 4
_FOLD = sys.platform in ("win32", "darwin")

KERNEL_FOLDERS = frozenset((b"/proc", b"/sys", b"/dev")) if sys.platform.startswith("linux") else frozenset()
"""Folders whose files the kernel makes up as they are read: no documents, without end, and reading may act.

Source: Linux, Documentation/filesystems/proc.rst and sysfs.rst.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why something is left out: the reason's code, and the reason in words."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Stack:
    """The patterns in force in one folder, strongest first in ``layers``."""

    sbert: tuple[Layer, ...] = ()
    git: tuple[Layer, ...] = ()
    layers: tuple[Layer, ...] = ()


class Layer:
    """The patterns of one source, made ready for many questions.

    Args:
        lines: Lines in the manner of ``.gitignore``; comments, blank and unusable ones are passed over.
        source: The ignore file as text relative to the root, or ``""``.
        words: How a message names the source when it is no file.
        base: The source's folder relative to the root, ``""`` or ending with a slash.
        anywhere: A pattern also takes everything below what it matches (for patterns that include).
    """

    __slots__ = (
        "_any_path",
        "_base",
        "_folders",
        "_globs",
        "_lines",
        "_names",
        "_paths",
        "_source",
        "_wanted",
        "_words",
        "unusable",
    )  # fmt: skip

    def __init__(
        self, lines: Sequence[str], *, source: str = "", words: str = "", base: str = "", anywhere: bool = False
    ) -> None:
        self._source, self._words, self._base = source, words, len(base)
        self._lines = list(lines)
        self._wanted: list[bool] = []  # per line: True where it takes back in
        self._names: dict[str, int] = {}
        self._folders: dict[str, int] = {}
        self._globs: list[tuple[int, re.Pattern[str]]] = []
        self._paths: list[tuple[int, re.Pattern[str], bool, bool]] = []
        self.unusable: list[int] = []
        for number, line in enumerate(self._lines):
            self._wanted.append(line.lstrip().startswith("!"))
            self._add(number, unicodedata.normalize("NFC", line), anywhere)
        self._globs.reverse()
        self._paths.reverse()
        self._any_path = _united([regex for _, regex, _, _ in self._paths])

    def __bool__(self) -> bool:
        return bool(self._names or self._folders or self._globs or self._paths)

    def decide(self, name: str, inside: str, is_folder: bool) -> int:
        """Gives the number of the last line that matches, or -1.

        Args:
            name: The name, NFC.
            inside: The folder it lies in, relative to the root, ``""`` or ending with a slash.
            is_folder: Whether it is a folder.
        """
        key = name.casefold() if _FOLD else name
        best = self._names.get(key, -1)
        if is_folder and self._folders:
            best = max(best, self._folders.get(key, -1))
        slashed = name + "/" if is_folder else name
        for number, regex in self._globs:
            if number <= best:
                break
            if regex.search(slashed):
                best = number
                break
        if self._any_path is None:
            return best
        target = inside[self._base :] + slashed
        if self._any_path.search(target):
            best = max(best, self._path(target, best))
        return best

    def _path(self, target: str, best: int) -> int:
        for number, regex, whole, inner in self._paths:
            if number <= best:
                break
            match = regex.search(target.rstrip("/") if inner else target)
            if match is not None and (not whole or match.end() == len(target)):
                return number
        return best

    def takes_in(self, number: int) -> bool:
        """Says whether a line takes back in instead of leaving out."""
        return self._wanted[number]

    def verdict(self, number: int) -> Verdict:
        """Says in words which line leaves something out."""
        if self._source:
            return Verdict(IGNORED, f"named in {self._source}, line {number + 1}")
        return Verdict(PATTERN, f"matches {display_path(self._lines[number].strip())} of {self._words}")

    def _add(self, number: int, line: str, anywhere: bool) -> None:
        pattern = line.strip("\r\n")
        plain = pattern.strip().removeprefix("!")
        if not plain or pattern.startswith("#"):
            return
        body = plain.rstrip("/")
        if body and not anywhere and "/" not in body and not set(body) & set("*?[\\") and plain[0] != "#":
            table = self._folders if plain.endswith("/") else self._names
            table[body.casefold() if _FOLD else body] = number
            return
        # many stars in one name make a pattern that takes minutes on a hostile name
        if max(len(re.findall(r"\*+", part)) for part in body.split("/")) > _MOST_STARS or body.count("**") > 2:
            self.unusable.append(number)
            return
        inner = plain.endswith("/**")  # what lies below, not the folder itself
        if body.endswith("/**") and not inner:
            pattern = pattern.strip().rstrip("/") + "/*/"  # folders below
        regex = _regex(pattern)
        if regex is None:
            self.unusable.append(number)
        elif "/" not in body and not anywhere:
            self._globs.append((number, regex))
        else:
            whole = not anywhere and not inner and regex.pattern.startswith("^")  # "**/*" is just "."
            self._paths.append((number, regex, whole, inner and not anywhere))


@lru_cache(maxsize=512)
def _regex(pattern: str) -> re.Pattern[str] | None:
    from pathspec import GitIgnoreSpec

    try:
        (made,) = GitIgnoreSpec.from_lines([pattern]).patterns
    except (ValueError, TypeError, re.error):
        return None
    compiled = getattr(made, "regex", None)
    if compiled is None:
        return None
    # the named group would clash when several are united; "$" would also match before a line end in a name
    text = compiled.pattern.replace("(?P<ps_d>/)", "/").replace("|$)", r"|\Z)")
    if text == "/":  # any folder
        text = r"/\Z"
    return re.compile(text, re.DOTALL | (re.IGNORECASE if _FOLD else 0))


def _united(regexes: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    if not regexes:
        return None
    flags = re.DOTALL | (re.IGNORECASE if _FOLD else 0)
    try:
        return re.compile("|".join(f"(?:{regex.pattern})" for regex in regexes), flags)
    except re.error:
        return re.compile("", flags)  # asks each one by itself


class Rules:
    """All rules that hold in one folder of the library, short of the ignore files in the tree.

    Args:
        folder: The folder's own rules.
        hidden: Read names that begin with a dot, unless the folder's own rules say so or not.
        exclude: Patterns for all folders, apart by ``;`` or line ends.
        gitignore: Honour ``.gitignore`` too.
    """

    def __init__(
        self,
        folder: FolderRules | None = None,
        *,
        hidden: bool = False,
        exclude: str = "",
        gitignore: bool = False,
    ) -> None:
        own = folder or FolderRules()
        self.hidden = hidden if own.hidden is None else own.hidden
        self.gitignore = gitignore
        lines = [part.strip() for part in re.split(r"[;\n]", exclude) if part.strip()]
        self._own = Layer(own.exclude, words="this folder's rules")
        self._all = Layer(lines, words="the patterns for all folders")
        # Lines of which none can match would leave out everything: they count as no lines.
        self._include = Layer(own.include, anywhere=True) or None

    @classmethod
    def of(cls, settings: Settings, folder: FolderRules | None = None) -> Rules:
        """Gives the rules of a folder under the settings in force."""
        return cls(
            folder,
            hidden=settings.flag("indexing.hidden"),
            exclude=settings.text("indexing.exclude"),
            gitignore=settings.flag("indexing.gitignore"),
        )

    def start(self) -> Stack:
        """Gives the patterns in force above the root's own ignore files."""
        return self._stack((), ())

    def enter(self, stack: Stack, folder: bytes, inside: str, *, sbert: bool, git: bool) -> Stack:
        """Gives the patterns in force in a folder that has ignore files.

        Args:
            stack: What holds in the folder above.
            folder: The folder, absolute.
            inside: The folder relative to the root, ``""`` or ending with a slash.
            sbert: It may hold ``.sbertignore``.
            git: It may hold ``.gitignore``.
        """
        near = _read(folder, IGNORE_FILE, inside) if sbert else None
        far = _read(folder, GIT_FILE, inside) if git and self.gitignore else None
        if not near and not far:
            return stack
        return self._stack((near, *stack.sbert) if near else stack.sbert, (far, *stack.git) if far else stack.git)

    def _stack(self, sbert: tuple[Layer, ...], git: tuple[Layer, ...]) -> Stack:
        return Stack(sbert, git, tuple(layer for layer in (self._own, *sbert, *git, self._all) if layer))

    def by_name(self, name: bytes, is_folder: bool) -> Verdict | None:
        """Judges a name alone: system files, lock and temporary files, hidden ones."""
        low = name.lower()
        if is_folder:
            if low in _SYSTEM_FOLDERS or low.startswith(_TRASH):
                return _SYSTEM
        elif low.startswith(_TEMPORARY_STARTS) or low.endswith(_TEMPORARY_ENDS):
            return _LOCK
        elif low in _SYSTEM_FILES:
            return _SYSTEM
        elif low[:1] == b"#" and low[-1:] == b"#":
            return _LOCK
        return _HIDDEN if low[:1] == b"." and not self.hidden else None

    def by_pattern(self, stack: Stack, name: bytes, inside: str, is_folder: bool) -> Verdict | None:
        """Judges by the patterns in force in the folder ``inside`` (relative, ``""`` or ending with a slash)."""
        if not stack.layers and self._include is None:
            return None
        text = as_text(name)
        for layer in stack.layers:
            number = layer.decide(text, inside, is_folder)
            if number >= 0:
                if not layer.takes_in(number):
                    return layer.verdict(number)
                break
        if self._include is not None and not is_folder:
            number = self._include.decide(text, inside, False)
            if number < 0 or self._include.takes_in(number):
                return _NOT_INCLUDED
        return None

    def judge(self, stack: Stack, name: bytes, inside: str, is_folder: bool) -> Verdict | None:
        """Gives why a name in a folder is left out, or None; without a look at Maildir, see :func:`in_maildir`."""
        return self.by_name(name, is_folder) or self.by_pattern(stack, name, inside, is_folder)

    def judge_at(self, stack: Stack, folder: bytes, name: bytes, inside: str, is_folder: bool) -> Verdict | None:
        """As :meth:`judge`, for a name in a folder that is there (``folder`` is ``inside``, absolute)."""
        named = self.by_name(name, is_folder)
        if is_folder:
            named = in_maildir(folder, name, named)
        return named or self.by_pattern(stack, name, inside, is_folder)


def in_maildir(folder: bytes, name: bytes, verdict: Verdict | None) -> Verdict | None:
    """Corrects what the name of a folder alone says: Maildir has a ``tmp`` of its own and folders as ``.Sent``.

    Source: Maildir (cr.yp.to/proto/maildir.html): what lies in ``tmp`` is not delivered yet; Maildir++:
    folders of a mailbox begin with a dot.
    """
    if name == b"tmp" and verdict is None and _is_maildir(folder):
        return _UNDELIVERED
    if verdict is _HIDDEN and _is_maildir(os.path.join(folder, name)):
        return None
    return verdict


def _is_maildir(folder: bytes) -> bool:
    return all(os.path.isdir(os.path.join(folder, part)) for part in (b"cur", b"new"))


_UNDELIVERED = Verdict(LOCK, "mails that are not delivered yet")
_HIDDEN = Verdict(HIDDEN, "hidden: the name begins with a dot")
MARKED_HIDDEN = Verdict(HIDDEN, "hidden: the system marks it so")
_LOCK = Verdict(LOCK, "a lock file or a temporary file of another program")
_SYSTEM = Verdict(SYSTEM, "a file of the system")
_NOT_INCLUDED = Verdict(PATTERN, "matches none of the patterns that this folder includes")


def is_usable(line: str) -> bool:
    """Says whether a line can match anything: it is not blank, no comment, and understood."""
    return "\n" not in line and bool(Layer([line], anywhere=True))


def as_text(name: bytes) -> str:
    """Gives a name or path as patterns see it: text in NFC, so that both forms of an accent match."""
    text = os.fsdecode(name)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def inside_of(root: bytes, folder: bytes) -> str:
    """Gives a folder relative to the root as patterns see it: ``""`` or ending with a slash."""
    if folder == root:
        return ""
    text = as_text(folder[len(root.rstrip(b"/\\")) + 1 :])
    return (text.replace(os.sep, "/") if os.sep != "/" else text) + "/"


def is_online_only(status: os.stat_result) -> bool:
    """Says whether a file's bytes lie only in the cloud, so that opening it would fetch them.

    Source: FILE_ATTRIBUTE_OFFLINE, _RECALL_ON_OPEN, _RECALL_ON_DATA_ACCESS of winnt.h; SF_DATALESS of
    macOS' sys/stat.h.
    """
    attributes = getattr(status, "st_file_attributes", 0)
    return bool(attributes & 0x0044_1000) or bool(getattr(status, "st_flags", 0) & 0x4000_0000)


def is_marked_hidden(status: os.stat_result) -> bool:
    """Says whether Windows or macOS hide a file or folder though its name begins with no dot.

    Source: FILE_ATTRIBUTE_HIDDEN of winnt.h; UF_HIDDEN of macOS' sys/stat.h.
    """
    return bool(getattr(status, "st_file_attributes", 0) & 0x2) or bool(getattr(status, "st_flags", 0) & 0x8000)


def _read(folder: bytes, name: bytes, inside: str) -> Layer | None:
    """Reads an ignore file; one that is a link, special, online only or unreadable counts as absent."""
    path = os.path.join(folder, name)
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or is_online_only(status):
            return None
        with open(path, "rb") as stream:
            text = stream.read(_MOST_BYTES).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    except OSError:
        return None
    layer = Layer(text.splitlines()[:_MOST_LINES], source=display_path(inside + name.decode()), base=inside)
    return layer or None


class Judge:
    """Answers for single paths below a root whether the rules let them in; remembers folders.

    Make a new one when an ignore file has changed. Used by one thread at a time.
    """

    def __init__(self, root: bytes, rules: Rules, skip: frozenset[bytes] = frozenset()) -> None:
        self._root, self._rules, self._skip = root, rules, skip
        self._known: dict[bytes, Stack | None] = {root: rules.enter(rules.start(), root, "", sbert=True, git=True)}

    def stack(self, folder: bytes) -> Stack | None:
        """Gives the patterns in force in a folder, or None when it is left out or not below the root."""
        waiting = []
        while folder not in self._known:  # no recursion: a path may have two thousand folders
            if len(folder) <= len(self._root):
                return None
            waiting.append(folder)
            folder = os.path.dirname(folder)
        found = self._known[folder]
        for inner in reversed(waiting):
            found = self._known[inner] = self._enter(inner, found)
        return found

    def _enter(self, folder: bytes, above: Stack | None) -> Stack | None:
        parent, name = os.path.split(folder)
        if above is None or folder in self._skip:
            return None
        if self._rules.judge_at(above, parent, name, inside_of(self._root, parent), True) is not None:
            return None
        return self._rules.enter(above, folder, inside_of(self._root, folder), sbert=True, git=True)

    def wants(self, path: bytes, is_folder: bool) -> bool:
        """Says whether a file or folder below the root is read."""
        if is_folder:
            return self.stack(path) is not None
        parent, name = os.path.split(path)
        above = self.stack(parent)
        return above is not None and self._rules.judge(above, name, inside_of(self._root, parent), False) is None
