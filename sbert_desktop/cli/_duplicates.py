"""The commands ``duplicates``, ``undo`` and ``have``, and ``export duplicates``."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.duplicate_views import CleanUpView, DuplicatesView, GroupView, MemberView
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import KINDS_BY_NAME, Assistant, DuplicateQuery, Removal
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._console import ConsoleContext
from sbert_desktop.cli._interrupting import ends_a_command
from sbert_desktop.cli._opening import as_json, console, session
from sbert_desktop.domain import Filters, JobContext, display_path
from sbert_desktop.errors import Cancelled, LibraryError, SbertDesktopError, UsageError
from sbert_desktop.interrupt import INTERRUPTED

_KEPT_SIGN, _TRASH_SIGN, _LEFT_SIGN = "keep ", "trash", "     "


def duplicates(options: argparse.Namespace) -> int | None:
    """Reports groups of duplicates; moves to the trash what the rules tick, if told to with ``--yes``."""
    if options.yes and options.apply is None:
        raise UsageError("bad-arguments", "--yes says nothing without --apply RULES.", "For instance --apply newest.")
    with session(options) as opened, console(options) as context:
        view = _find(opened, options, context)
        context.clear()
        for note in view.notes:
            output.say(note)
        done: CleanUpView | None = None
        with _gently(context) as gentle:
            if options.apply is not None:
                done = _apply(opened, _removals(view), gentle, dry=not options.yes)
            context.clear()
        _tell(options, view, done)
    if gentle.stopped:
        return INTERRUPTED
    return 1 if done is not None and not done.dry and done.failed else None


class _Gentle:
    """The console's context during a clean-up: Ctrl+C ends it between two files, so that all can be told."""

    paused = False

    def __init__(self, context: ConsoleContext) -> None:
        self._context = context
        self.stopped = False

    def stop(self, *_: object) -> None:
        """Notes a Ctrl+C; the second one ends at once."""
        if self.stopped:
            raise KeyboardInterrupt
        self.stopped = True

    def check(self) -> None:
        """Ends the clean-up after a Ctrl+C."""
        if self.stopped:
            raise Cancelled

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Shows how far it is."""
        self._context.progress(phase, done, total, detail)

    def partial(self, result: object) -> None:
        """Ignores it."""


@contextmanager
def _gently(context: ConsoleContext) -> Iterator[_Gentle]:
    """Has the signals that end a command end a clean-up between two files."""
    gentle = _Gentle(context)
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    if threading.current_thread() is threading.main_thread():
        taken = [number for number in numbers if ends_a_command(number)]
        before = {number: signal.signal(number, gentle.stop) for number in taken}
    try:
        yield gentle
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _find(opened: Session, options: argparse.Namespace, context: ConsoleContext) -> DuplicatesView:
    from sbert_desktop.app.duplicates import run_duplicates

    return run_duplicates(opened, _query(opened, options), context)


def _query(opened: Session, options: argparse.Namespace) -> DuplicateQuery:
    from sbert_desktop.app.ticking import parse_rules

    rules = getattr(options, "apply", None)
    try:
        kept = parse_rules(opened.settings.text("duplicates.rules"))
    except UsageError as error:
        hint = "Correct the setting duplicates.rules."
        raise UsageError("setting-invalid", f"The setting duplicates.rules: {error.message}", hint) from error
    assistant = kept
    if rules is not None:  # protected folders are protected here, too
        assistant = _typed(parse_rules(rules))
        protected = tuple(dict.fromkeys((*assistant.protected, *kept.protected)))
        assistant = replace(assistant, protected=protected)
    threshold = options.threshold
    folder = Path(os.path.abspath(options.folder.expanduser())) if options.folder is not None else None
    return DuplicateQuery(
        kinds=KINDS_BY_NAME[options.kind],
        near=opened.settings.number("duplicates.near") / 100 if threshold is None else threshold,
        related=opened.settings.number("duplicates.related") / 100 if threshold is None else threshold,
        filters=Filters(folder=folder, types=tuple(one.lower().lstrip(".") for one in options.type)),
        assistant=assistant,
    )


def _typed(assistant: Assistant) -> Assistant:
    """Refuses rules with a folder that is not there: a slip of the pen would protect nothing."""
    named = [rule.folder for rule in assistant.rules if rule.folder is not None]
    for folder in (*named, *assistant.protected, *assistant.only_in):
        if not folder.is_dir():
            raise UsageError("bad-rule", f"The folder {display_path(folder)} is not there.", "Check the rules.")
    return assistant


def _removals(view: DuplicatesView) -> tuple[Removal, ...]:
    from sbert_desktop.app.ticking import removals, ticks_of

    return removals(view.groups, ticks_of(view.groups))


def _apply(opened: Session, removals: Sequence[Removal], context: JobContext, *, dry: bool = False) -> CleanUpView:
    """Moves what is ticked, and has the library forget it."""
    from sbert_desktop.app.cleaning import run_clean_up
    from sbert_desktop.app.deciding import decided_same

    moved: list[Removal] = []
    try:
        return run_clean_up(opened, removals, context, dry=dry, on_moved=moved.append)
    finally:
        if moved:
            with suppress(LibraryError):  # busy: that the files moved matters more than what it teaches
                decided_same(opened, [(one.victim, one.keepers[0]) for one in moved])
            _look_again(opened, [one.victim.path for one in moved])


def _look_again(opened: Session, paths: Sequence[Path]) -> None:
    """Brings the library up to date with what was moved; where it is busy, its next run does."""
    from sbert_desktop.app import indexing

    try:
        request = indexing.IndexRequest(only=tuple(paths), confirm_removals=True, keep_leaving=True)
        indexing.run_index(opened, request, ConsoleContext(quiet=True), wait=False)
    except SbertDesktopError as error:
        output.say(f"The files moved; the library is brought up to date at the next 'index' ({error.message})")


def _tell(options: argparse.Namespace, view: DuplicatesView, done: CleanUpView | None) -> None:
    if as_json(options):
        from sbert_desktop.app.duplicate_report import as_json as fields

        result = fields(view)
        if done is not None:
            result["applied"] = clean_up_fields(done)
        output.emit(result)
        return
    for group in view.groups:
        _print_group(group, ticks=options.apply is not None)
    count = len(view.groups)
    groups = "1 group" if count == 1 else f"{count:,} groups"
    output.line(f"{groups} among {view.files:,} files; {_size(view.bytes_to_win)} to win." if count else _none(view))
    if done is None:
        if view.left:
            output.line(view.left)
        return
    _print_clean_up(done)


def _none(view: DuplicatesView) -> str:
    return f"No duplicates among {view.files:,} files."


def _print_group(group: GroupView, *, ticks: bool) -> None:
    words = [group.kind.value, f"lowest similarity {group.lowest:.2f}", f"{_size(group.bytes_to_win)} to win"]
    if group.folders:
        words[0] = "identical folders"
    if group.versions:
        words.append(group.versions)
    output.line(f"{display_path(group.title)}  ({', '.join(words)})")
    for member in group.members:
        output.line(f"  {_sign(member) if ticks or member.keep else _LEFT_SIGN}  {_place(member)}{_said(member)}")


def _sign(member: MemberView) -> str:
    return _KEPT_SIGN if member.keep else _TRASH_SIGN if member.ticked else _LEFT_SIGN


def _place(member: MemberView) -> str:
    inside = f" > {display_path(member.copy.member)}" if member.copy.member else ""
    return f"{display_path(member.copy.path)}{inside}"


def _said(member: MemberView) -> str:
    relation = "" if member.keep else f"{member.relation.value} {member.similarity:.2f}"
    said = ", ".join(filter(None, (relation, member.reason, member.warning, member.why_not)))
    return f"  [{said}]" if said else ""


def _print_clean_up(done: CleanUpView) -> None:
    if done.dry:
        if done.moved:
            output.line(f"{_files(done.moved)} would go to the trash, {_size(done.bytes)}. Add --yes to move them.")
        else:
            output.line("The rules tick nothing that could go.")
    else:
        output.line(f"{_files(done.moved)} moved to the trash, {_size(done.bytes)}. 'undo' brings them back.")
    for one in done.files:
        if one.state != "moved" or one.message:
            output.line(f"  {one.state}: {display_path(one.path)}: {one.message}")
    for note in done.notes:
        output.line(note)


def clean_up_fields(done: CleanUpView) -> dict[str, object]:
    """Gives a clean-up for JSON."""
    files = []
    for one in done.files:
        trash: Mapping[str, object] = output.path_fields(one.trash) if one.trash is not None else {"path": None}
        files.append(
            {
                **output.path_fields(one.path), "bytes": one.size, "state": one.state, "message": one.message,
                "trash": trash["path"],
            }
        )  # fmt: skip
    return {
        "id": done.id,
        "when": done.when,
        "moved": done.moved,
        "skipped": done.skipped,
        "failed": done.failed,
        "bytes": done.bytes,
        "dry": done.dry,
        "undone": done.undone,
        "files": files,
    }


def undo(options: argparse.Namespace) -> int | None:
    """Lists clean-ups, or brings back what the last one (or a named one) moved."""
    from sbert_desktop.app.cleaning import list_clean_ups, run_undo
    from sbert_desktop.app.deciding import undecide_same

    with session(options) as opened, console(options) as context:
        if options.list:
            _print_history(options, list_clean_ups(opened))
            return None
        known = [(one.id, file) for one in list_clean_ups(opened) for file in one.files]
        before = {(id, file.path) for id, file in known if file.state == "restored"}
        with _gently(context) as gentle:
            done = run_undo(opened, options.id or "", options.paths, gentle)
            context.clear()
            back = [one for one in done.files if one.state == "restored" and (done.id, one.path) not in before]
            if back:
                _look_again(opened, [one.path for one in back])
                with suppress(LibraryError):  # busy: that the files are back matters more than what going taught
                    undecide_same(opened, done.id)
        left = [one for one in done.files if one.state in ("moved", "lost") and one.message]
        if as_json(options):
            output.emit(
                {
                    "id": done.id,
                    "restored": [{**output.path_fields(one.path), "message": one.message} for one in back],
                    "not_restored": [{**output.path_fields(one.path), "message": one.message} for one in left],
                    "notes": list(done.notes),
                }
            )
        else:
            for one in [*back, *left]:
                said = f": {one.message}" if one.message else ""
                output.line(f"{one.state}: {display_path(one.path)}{said}")
            for note in done.notes:
                output.line(note)
            output.line("1 file is back." if len(back) == 1 else f"{len(back):,} files are back.")
    if gentle.stopped:
        return INTERRUPTED
    return 1 if left else None


def _print_history(options: argparse.Namespace, clean_ups: Sequence[CleanUpView]) -> None:
    if as_json(options):
        output.emit({"clean_ups": [clean_up_fields(one) for one in clean_ups]})
        return
    for one in clean_ups:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.when))
        restored = sum(file.state == "restored" for file in one.files)
        words = [f"{one.moved:,} in the trash, {_size(one.bytes)}"]
        words += [f"{restored:,} restored"] if restored else []
        words += [f"{one.skipped + one.failed:,} left"] if one.skipped + one.failed else []
        words += [] if one.finished else ["cut short"]
        output.line(f"{one.id}  {day}  {', '.join(words)}")
    if not clean_ups:
        output.line("There was no clean-up yet.")


def have(options: argparse.Namespace) -> None:
    """Tells whether the library has a file already."""
    from sbert_desktop.app.having import run_have

    with session(options) as opened, console(options) as context:
        view = run_have(opened, options.path, context)
        context.clear()
        if as_json(options):
            output.emit(
                {
                    **output.path_fields(view.path),
                    "verdict": view.verdict,
                    "words": view.words,
                    "files": [
                        {**output.path_fields(path), "member": member, "similarity": round(similarity, 4)}
                        for path, member, similarity in view.files
                    ],
                    "folder": output.path_fields(view.folder)["path"] if view.folder is not None else None,
                }
            )
            return
        output.line(f"{view.verdict}: {view.words}")
        for path, member, similarity in view.files:
            inside = f" > {display_path(member)}" if member else ""
            output.line(f"  {similarity:.2f}  {display_path(path)}{inside}")
        if view.folder is not None:
            output.line(f"Its neighbours lie in {display_path(view.folder)}.")


def export(options: argparse.Namespace) -> None:
    """Writes groups as CSV, JSON or HTML."""
    from sbert_desktop.app import duplicate_report

    target: Path | None = None if options.output in (None, Path("-")) else options.output
    form = options.format or (target.suffix.lower().lstrip(".") if target is not None else "csv")
    if target is None and as_json(options):
        form = options.format or "json"
        if form != "json":
            raise UsageError("bad-arguments", f"--json and {form} both want the output.", "Give -o a file.")
    with session(options) as opened, console(options) as context:
        view = _find(opened, options, context)
        context.clear()
        for note in view.notes:
            output.say(note)
        if target is None:
            if as_json(options):
                output.emit(duplicate_report.as_json(view))
            else:
                output.line(duplicate_report.written(view, form).rstrip("\r\n"))
            return
        written = duplicate_report.export_duplicates(view, target, form, replace=options.force)
        if as_json(options):
            output.emit({"written": output.path_fields(written), "format": form, "groups": len(view.groups)})
        else:
            output.line(f"{len(view.groups):,} groups written to {display_path(written)}.")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _size(count: int) -> str:
    value = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:,.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:,.1f} {unit}"
        value /= 1000
    return ""


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "duplicates": duplicates,
    "undo": undo,
    "have": have,
}
