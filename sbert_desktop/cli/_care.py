"""Commands for what was not read, and for keeping folders up to date."""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexReport, ProblemView
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._console import ConsoleContext
from sbert_desktop.cli._opening import as_json, console, print_report, session
from sbert_desktop.domain import NOT_COUNTED, PICTURE, FolderRules, display_path
from sbert_desktop.errors import UsageError

_TICK = 0.2
_LONGEST_PASSWORD = 1_000
_SCANS = frozenset((PICTURE, "no-text-layer"))


# ---------------------------------------------------------------- the list


def problems(options: argparse.Namespace) -> None:
    """Lists files that were not read, or only in part."""
    from sbert_desktop.app.overview import problem_views
    from sbert_desktop.app.problems import problems_as_csv, write_problems

    if as_json(options) and options.csv == Path("-"):
        raise UsageError("bad-arguments", "--csv - and --json both want the output.", "Give --csv a file.")
    with session(options) as opened:
        every = problem_views(opened)
        views = every if options.all else tuple(view for view in every if not view.ignored)
        if options.csv == Path("-"):
            text = io.StringIO()
            problems_as_csv(text, views, line_end="\n")
            output.line(text.getvalue().rstrip("\n"))
            return
        if options.csv is not None:
            written = write_problems(options.csv, views)
            output.say(f"{len(views):,} rows written to {display_path(written)}.")
        if as_json(options):
            fields = [_problem_fields(view) for view in views]
            output.emit({"problems": fields, "count": _counted(every), "ignored": _ignored(every)})
            return
        for view in views:
            mark = "  [ignored]" if view.ignored else ""
            output.line(f"{_name(view)}: {view.message} {view.hint}".rstrip() + mark)
        output.line(_summary(every, options.all))


def _summary(every: tuple[ProblemView, ...], show_all: bool) -> str:
    """Counts as ``status`` does: files, and apart from them those of which no text was to be expected."""
    count = _counted(every)
    text = ("1 file" if count == 1 else f"{count:,} files") + " with problems." if count else "No problems."
    other = len({(view.path, view.member) for view in every if view.code in NOT_COUNTED and not view.ignored})
    if other:
        text += f" Not counted: {other:,} of kinds that are not read, or pictures without text."
    hidden = 0 if show_all else _ignored(every)
    return text + (f" {hidden:,} more are ignored; --all shows them." if hidden else "")


def _counted(views: tuple[ProblemView, ...]) -> int:
    return len({(view.path, view.member) for view in views if not (view.ignored or view.code in NOT_COUNTED)})


def _problem_fields(view: ProblemView) -> dict[str, object]:
    return {
        **output.path_fields(view.path),
        "member": view.member,
        "code": view.code,
        "message": view.message,
        "hint": view.hint,
        "partial": view.partial,
        "ignored": view.ignored,
        "size": view.size,
        "when": view.when,
    }


def _name(view: ProblemView) -> str:
    return display_path(view.path) + (f" > {display_path(view.member)}" if view.member else "")


def _ignored(views: tuple[ProblemView, ...]) -> int:
    return sum(view.ignored for view in views)


# ---------------------------------------------------------------- single files


def retry(options: argparse.Namespace) -> None:
    """Reads files again though they look unchanged."""
    from sbert_desktop.app.indexing import IndexRequest

    with session(options) as opened, console(options) as context:
        files, folders = _chosen(opened, options.paths, lambda view: view.code not in NOT_COUNTED and not view.ignored)
        _index(options, opened, context, IndexRequest(retry=files, only=folders, keep_leaving=True))


def recognise(options: argparse.Namespace) -> None:
    """Recognises the text of scans and pictures."""
    from sbert_desktop.app.indexing import IndexRequest

    with session(options) as opened, console(options) as context:
        files, folders = _chosen(opened, options.paths, lambda view: view.code in _SCANS)
        _index(options, opened, context, IndexRequest(recognise=files or folders, keep_leaving=True))


def ignore(options: argparse.Namespace) -> None:
    """Takes files off the list of problems, or puts them back."""
    from sbert_desktop.app.overview import problem_views

    with session(options) as opened:
        chosen, _ = _chosen(
            opened, options.paths, lambda view: view.code not in NOT_COUNTED and view.ignored == options.undo
        )
        with opened.library.writer(on_wait=_waits) as writer:
            writer.set_ignored(chosen, not options.undo)
            writer.commit()
        views = [view for view in problem_views(opened) if view.path in set(chosen)]
        if as_json(options):
            output.emit({"problems": [_problem_fields(view) for view in views]})
            return
        for view in views:
            output.line(f"{_name(view)}: {'ignored until it changes' if view.ignored else 'listed'}.")
        if not views:
            output.line("None of these files has a problem.")


def unlock(options: argparse.Namespace) -> int:
    """Opens a protected file with a password from the terminal or from standard input."""
    from sbert_desktop.app.embedding import cutter_in_force
    from sbert_desktop.app.indexing import IndexRequest, run_index
    from sbert_desktop.app.problems import keep_opened, known_path, open_locked

    with session(options) as opened, console(options) as context:
        path = known_path(opened, options.path) if options.keep else Path(options.path).expanduser().absolute()
        found = open_locked(opened, path, _password(path), context, member=options.member)
        view = found.view
        if view.opened and options.keep:
            cutter = cutter_in_force(opened)
            with opened.library.writer(on_wait=_waits) as writer:
                view = keep_opened(opened, writer, cutter, found)
            run_index(opened, IndexRequest(only=(path,), keep_leaving=True), context)
        context.clear()
        if as_json(options):
            fields = {"opened": view.opened, "kept": view.kept, "message": view.message, "text": view.text}
            output.emit({**output.path_fields(path), "member": view.member, **fields})
        elif view.opened and not view.kept:
            output.line(view.text)
        else:
            output.say(view.message)
        return 0 if view.opened else 1


def caption(options: argparse.Namespace) -> None:
    """Shows, sets or takes away the person's own words about a file."""
    from sbert_desktop.app.embedding import cutter_in_force
    from sbert_desktop.app.indexing import IndexRequest, run_index
    from sbert_desktop.app.problems import CAPTION_LIMIT, caption_view, known_path, store_caption

    with session(options) as opened, console(options) as context:
        path = known_path(opened, options.path)
        text = _typed(CAPTION_LIMIT + 1) if options.text == "-" else options.text
        if text is not None or options.remove:
            if text is not None and not text.strip() and not options.remove:
                raise UsageError("empty-caption", "The caption is empty.", "Give a text, or --remove.")
            cutter = cutter_in_force(opened)
            with opened.library.writer(on_wait=_waits) as writer:
                store_caption(writer, cutter, path, "" if options.remove else text or "", options.member)
            run_index(opened, IndexRequest(only=(path,), keep_leaving=True), context)
        view = caption_view(opened, path, options.member)
        context.clear()
        if as_json(options):
            output.emit({**output.path_fields(path), "member": view.member, "text": view.text})
        else:
            output.line(view.text or "No caption.")


def _chosen(
    opened: Session, paths: list[Path], fits: Callable[[ProblemView], bool]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Gives the files that are meant, a folder standing for the fitting problems below it; and those folders.

    Raises:
        UsageError: ``file-unknown``; ``file-missing``: neither disk nor library know it.
    """
    from sbert_desktop.app.overview import problem_views
    from sbert_desktop.app.problems import known_path

    known = [known_path(opened, path) for path in paths]
    folders = tuple(path for path in known if os.path.isdir(path))
    files = [path for path in known if path not in folders]
    for path in files:
        if not os.path.lexists(path) and not any(
            opened.library.known_files(record.id, below=[path]) for record in opened.library.folders()
        ):
            raise UsageError("file-missing", f"There is no file {display_path(path)}.", "Check the name.")
    if folders:
        files += [
            view.path
            for view in problem_views(opened)
            if fits(view) and any(view.path.is_relative_to(folder) for folder in folders)
        ]
    return tuple(dict.fromkeys(files)), folders


def _waits(holder: str) -> None:
    output.say(f"Waiting for {holder}.")


def _password(path: Path) -> str:
    """Asks on the terminal without showing it, else takes the first line of standard input."""
    if sys.stdin is not None and sys.stdin.isatty():
        import getpass

        return getpass.getpass(f"Password for {display_path(path)}: ")
    return _typed(_LONGEST_PASSWORD, line=True).rstrip("\r\n")


def _typed(limit: int, *, line: bool = False) -> str:
    """Reads standard input, or its first line, up to so many characters; UTF-8 in every locale; closed: ``""``."""
    if sys.stdin is None:
        return ""
    raw = getattr(sys.stdin, "buffer", None)
    if raw is None:
        return sys.stdin.readline(limit) if line else sys.stdin.read(limit)
    data: bytes = raw.readline(4 * limit) if line else raw.read(4 * limit)
    return data.decode("utf-8-sig", "replace")[:limit]


def _index(options: argparse.Namespace, opened: Session, context: ConsoleContext, request: object) -> None:
    from sbert_desktop.app.indexing import IndexRequest, run_index

    assert isinstance(request, IndexRequest)
    report = run_index(opened, request, context, wait=not getattr(options, "no_wait", False))
    context.clear()
    print_report(options, report)


# ---------------------------------------------------------------- folders


def rules(options: argparse.Namespace) -> None:
    """Shows or sets which files of a folder are read, then checks it."""
    from sbert_desktop.app.indexing import IndexRequest

    with session(options) as opened, console(options) as context:
        record = _folder(opened, options.folder)
        if options.clear or options.include or options.exclude:
            old = FolderRules() if options.clear else record.rules
            new = dataclasses.replace(
                old,
                include=tuple(dict.fromkeys((*old.include, *options.include))),
                exclude=tuple(dict.fromkeys((*old.exclude, *options.exclude))),
            )
            _index(options, opened, context, IndexRequest(folder=record.path, rules=new, keep_leaving=True))
            return
        if as_json(options):
            found = record.rules
            fields = {"include": list(found.include), "exclude": list(found.exclude), "hidden": found.hidden}
            output.emit({**output.path_fields(record.path), **fields})
            return
        for word, patterns in (("include", record.rules.include), ("exclude", record.rules.exclude)):
            for pattern in patterns:
                output.line(f"{word} {pattern}")
        if not (record.rules.include or record.rules.exclude):
            output.line("No rules of its own.")


def locate(options: argparse.Namespace) -> None:
    """Says where a folder that is offline lies now."""
    from sbert_desktop.app.indexing import IndexRequest

    with session(options) as opened, console(options) as context:
        record = _folder(opened, options.folder)
        _index(options, opened, context, IndexRequest(folder=record.path, place=options.place, keep_leaving=True))


def _folder(opened: Session, folder: Path):  # type: ignore[no-untyped-def]
    from sbert_desktop.app.index_scope import folder_record

    return folder_record(opened, folder)


def watch(options: argparse.Namespace) -> None:
    """Keeps the library up to date until Ctrl+C; one line per update."""
    from sbert_desktop.app.indexing import IndexRequest, run_index
    from sbert_desktop.app.waiting import Waiting
    from sbert_desktop.app.watching import Watching

    with session(options) as opened, console(options) as context:
        waiting, woken = Waiting(), threading.Event()

        def changed(paths: frozenset[Path]) -> None:
            waiting.note(paths)
            woken.set()

        folders = [(r.path, r.rules) for r in opened.library.folders() if r.state == "active"]
        if not folders:
            raise UsageError("no-folders", "The library has no folders.", "Add one: sbert-desktop index FOLDER.")
        watching = Watching(changed, skip=(opened.library.path,), settings=opened.settings)
        watching.start(folders)
        try:
            _say_update(options, context, run_index(opened, IndexRequest(), context, waiting=waiting), first=True)
            while True:
                woken.wait(_TICK)  # in pieces, so that Ctrl+C is heard everywhere
                woken.clear()
                look = waiting.take()
                if look:
                    request = IndexRequest(only=tuple(look.paths), keep_leaving=True)
                    report = run_index(opened, request, context, waiting=waiting, on_unsettled=_later(changed))
                    _say_update(options, context, report, first=False)
        finally:
            watching.stop()


def _later(changed: Callable[[frozenset[Path]], None]) -> Callable[[frozenset[Path]], None]:
    def again(paths: frozenset[Path]) -> None:
        timer = threading.Timer(5.0, changed, [paths])
        timer.daemon = True
        timer.start()

    return again


def _say_update(options: argparse.Namespace, context: ConsoleContext, report: IndexReport, *, first: bool) -> None:
    context.clear()
    touched = report.added or report.changed or report.moved or report.removed
    for notice in report.notices if first else ():
        output.say(notice)
    if not touched and not first:
        return
    if as_json(options):
        output.line(json.dumps({"when": time.time(), **dataclasses.asdict(report)}, ensure_ascii=False))
    else:
        output.line(
            f"{time.strftime('%H:%M:%S')}  {report.added:,} added, {report.changed:,} changed, {report.moved:,} moved, "
            f"{report.removed:,} removed; {report.documents:,} documents."
        )
    output.flush()


def programs(options: argparse.Namespace) -> None:
    """Shows which programs on this machine help with reading."""
    from sbert_desktop.app.asking import find_programs

    with session(options, create=False) as opened:
        view = find_programs(opened)
        if as_json(options):
            fields = {"tesseract": view.tesseract, "languages": list(view.languages), "libreoffice": view.libreoffice}
            output.emit(fields)
            return
        languages = f" ({', '.join(view.languages)})" if view.languages else ""
        output.line(f"Tesseract    {view.tesseract or 'not installed'}{languages}")
        output.line(f"LibreOffice  {view.libreoffice or 'not installed'}")


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "problems": problems,
    "retry": retry,
    "ignore": ignore,
    "unlock": unlock,
    "caption": caption,
    "rules": rules,
    "watch": watch,
    "recognise": recognise,
    "locate": locate,
    "programs": programs,
}
