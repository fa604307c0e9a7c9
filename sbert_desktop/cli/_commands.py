"""One function per command: call the use case, then write its answer."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.app.reading import Read
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import DocumentView, HitView, SearchView
from sbert_desktop.cli import _care, _duplicates, _health, _lab, _map, _models, _quotes, _themes, _train
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json as _json
from sbert_desktop.cli._opening import console as _console
from sbert_desktop.cli._opening import print_report
from sbert_desktop.cli._opening import session as _session
from sbert_desktop.domain import JobContext, Mode, Parsed, Query, display_path
from sbert_desktop.errors import UsageError

_RERANKED = 50
"""Passages that are read again where the setting says none and --rerank asks for it."""

# ---------------------------------------------------------------- library


def index(options: argparse.Namespace) -> None:
    """Adds folders or brings all up to date."""
    from sbert_desktop.app.index_scope import checked_folder
    from sbert_desktop.app.indexing import IndexRequest, run_index

    folders = tuple(checked_folder(path) for path in options.paths)
    request = IndexRequest(folders, words_only=options.words_only, confirm_removals=options.confirm_removals)
    with _session(options, create=True) as session, _console(options) as context:
        report = run_index(session, request, context, wait=not options.no_wait)
        context.clear()
        print_report(options, report)


def status(options: argparse.Namespace) -> None:
    """Shows what is in the library."""
    from sbert_desktop.app.models import list_models
    from sbert_desktop.app.overview import index_health, library_view

    with _session(options) as session:
        view = library_view(session)
        health = index_health(session, sample=50)
        listed = [view for view in list_models(session) if view.active and view.kind == "encoder"]
        space = session.library.active_space()
        stale = sum(folder.documents - folder.embedded for folder in view.folders)
        model = listed[0] if listed else view.model
        if view.preparing:
            output.say(f"{view.preparing}; 'index' goes on with it.")
        # What was indexed with another model says so: its space, not the model that is installed now.
        if space is not None and session.expected_fingerprint() not in ("", space.fingerprint):
            model = dataclasses.replace(model, name=space.name, dimension=space.dimension, max_tokens=0, pooling="")
            output.say("The library was last updated with another model; run 'index' to bring it up to date.")
        if _json(options):
            output.emit(
                {
                    "library": display_path(session.library_path),
                    "folders": [
                        {
                            **output.path_fields(f.path),
                            "documents": f.documents,
                            "passages": f.passages,
                            "problems": f.problems,
                            "ignored": f.ignored,
                            "state": f.state,
                        }
                        for f in view.folders
                    ],
                    "documents": view.documents,
                    "passages": view.passages,
                    "embedded_passages": view.embedded,
                    "problems": view.problems,
                    "model": {
                        "name": model.name,
                        "fingerprint": space.fingerprint if space else "",
                        "dimension": model.dimension,
                        "max_tokens": model.max_tokens,
                        "pooling": model.pooling,
                    },
                    "index": {"kind": health.kind, "rows": health.rows, "recall_at_10": health.recall_at_10},
                    "stale": stale,
                    "preparing": view.preparing,
                    "read_only": view.read_only,
                    "notices": list(view.notices),
                }
            )
            return
        output.line(
            f"Library {display_path(session.library_path)}: {view.documents:,} documents, "
            f"{view.passages:,} passages ({view.embedded:,} also by meaning), {view.problems:,} problems."
        )
        for folder in view.folders:
            output.line(
                f"  {display_path(folder.path)}: {folder.documents:,} documents, {folder.problems:,} problems, "
                f"{folder.state}"
            )
        recall = f", recall@10 {health.recall_at_10:.3f}" if health.recall_at_10 is not None else ""
        facts = [f"{model.dimension} dimensions"] if model.dimension else ["not installed"]
        facts += [f"{model.max_tokens} tokens", f"{model.pooling} pooling"] if model.max_tokens else []
        output.line(
            f"Model {model.name}, {', '.join(facts)}. "
            f"Search is {'exact' if health.kind == 'exact' else 'by the index'} over {health.rows:,} rows{recall}."
        )
        for notice in view.notices:
            output.line(notice)


def forget(options: argparse.Namespace) -> None:
    """Takes a folder out of the library."""
    with _session(options) as session:
        library = session.library
        wanted = os.fsencode(os.path.realpath(options.path.expanduser()))
        record = next((r for r in library.folders() if os.fsencode(r.path) == wanted), None)
        if record is None:
            known = ", ".join(display_path(r.path) for r in library.folders()) or "none"
            raise UsageError(
                "folder-unknown",
                f"{display_path(options.path)} is not a folder of this library.",
                f"Its folders: {known}.",
            )
        with library.writer(
            wait=not options.no_wait, on_wait=lambda holder: output.say(f"Waiting for {holder}.")
        ) as writer:
            documents, passages = writer.remove_folder(record.id)
            writer.commit()
        if _json(options):
            output.emit({"documents": documents, "passages": passages})
        else:
            output.line(f"Forgot {documents:,} documents ({passages:,} passages). The files are untouched.")


def extract(options: argparse.Namespace) -> None:
    """Shows the text of files as it would be indexed."""
    from sbert_desktop.app.reading import read_files

    with _session(options) as session, _console(options) as context:
        files = []
        for read in read_files(session, options.paths, context):
            if _json(options):
                files.append(_read_fields(read))
                continue
            context.clear()
            _print_read(read)
        if _json(options):
            output.emit({"files": files})


def _read_fields(read: Read) -> dict[str, object]:
    text = read.text
    fields: dict[str, object] = {
        **output.path_fields(read.path),
        "format": text.format if text else "",
        "language": text.language if text else "",
        "title": text.title if text else "",
        "date": text.date if text else None,
        "text": text.text if text else "",
        "blocks": [
            {
                "start": b.start,
                "end": b.end,
                "kind": b.kind.value,
                "page": b.page,
                "heading": b.heading,
                "part": b.part,
            }
            for b in (text.blocks if text else ())
        ],
        "problems": [dataclasses.asdict(problem) for problem in read.problems],
    }
    if read.member:
        fields["member"] = read.member
    if read.members:
        fields["members"] = read.members
    return fields


def _print_read(read: Read) -> None:
    text = read.text
    name = display_path(read.path) + (f" > {display_path(read.member)}" if read.member else "")
    output.line(f"== {name}" + (f" ({text.format}, {text.language or '?'})" if text else ""))
    for problem in read.problems:
        output.line(f"!! {problem.message} {problem.hint}".rstrip())
    if read.members:
        output.line(f"{read.members:,} members, shown above.")
        if read.own:
            output.line(read.own)
    elif text:
        output.line(text.text)


# ---------------------------------------------------------------- search


def search(options: argparse.Namespace) -> None:
    """Searches the library."""
    with _session(options) as session, _console(options) as context:
        view = ask(session, options, context)
        context.clear()
        _show_hits(options, session, view)


def ask(session: Session, options: argparse.Namespace, context: JobContext) -> SearchView:
    """Answers the query of the options of a search, best sentences and second stage included."""
    from sbert_desktop.app.marking import find_marks, with_marks
    from sbert_desktop.app.reranking import cross_encoder_in_use, rerank
    from sbert_desktop.app.searching import find, show

    query = _query(session, options)
    cross = cross_encoder_in_use(session, context) if options.rerank else None
    found = find(session, query)
    view = show(session, rerank(found, cross, context) if cross is not None else found)
    if query.mode is not Mode.KEYWORD and session.settings.flag("search.best_sentence"):
        view = with_marks(view, find_marks(session, view))
    return view


def _query(session: Session, options: argparse.Namespace) -> Query:
    from sbert_desktop.app.searching import parse_query

    weight = options.words_weight
    if weight is None:
        weight = session.settings.number("search.words_weight") / 100
    depth = int(session.settings.text("search.rerank")) or _RERANKED
    typed, narrowed = parse_query(session, options.query), _narrowed(session, options)
    notes = tuple(dict.fromkeys((*typed.notes, *narrowed.notes)))
    return Query(
        options.query,
        mode=Mode(options.mode),
        top=options.top,
        by=options.by,
        words_weight=weight,
        rerank=depth if options.rerank else 0,
        fold=options.fold,  # a script wants every file named; the window shows the folded ones on request
        filters=dataclasses.replace(
            narrowed.filters, folder=Path(os.path.realpath(options.folder.expanduser())) if options.folder else None
        ),
        parsed=dataclasses.replace(typed, notes=notes),
    )


def _narrowed(session: Session, options: argparse.Namespace) -> Parsed:
    """Reads the options as the query language reads its fields, so that ``mail`` and ``German`` mean the same there.

    Raises:
        UsageError: ``bad-date`` or ``bad-arguments``: a value means nothing.
    """
    from sbert_desktop.app.asking_query import with_field
    from sbert_desktop.app.searching import parse_query

    fields = [("type", kind.strip()) for value in options.type for kind in value.split(",")]
    fields += [("lang", language.strip()) for value in options.language for language in value.split(",")]
    fields += [(name, day) for name, day in (("after", options.after), ("before", options.before)) if day is not None]
    for field, value in fields:
        if not parse_query(session, with_field("", field, value)).filters:
            if field in ("after", "before"):
                raise UsageError("bad-date", f"{value!r} is not a day.", "Write 2023, 2023-05, 2023-05-31 or today.")
            kind = "type of file" if field == "type" else "language"
            raise UsageError("bad-arguments", f"{value!r} is no {kind}.", "Write pdf or mail, en or de.")
    return parse_query(session, " ".join(with_field("", field, value) for field, value in fields))


def similar(options: argparse.Namespace) -> None:
    """Finds documents like a file."""
    from sbert_desktop.app.searching import run_similar

    with _session(options) as session:
        _show_hits(options, session, run_similar(session, options.path, top=options.top))


def _show_hits(options: argparse.Namespace, session: Session, view: SearchView) -> None:
    for note in (*view.notes, *session.notices()):
        output.say(note)
    if _json(options):
        output.emit(
            {
                "query": view.query,
                "mode": view.mode.value,
                "milliseconds": view.milliseconds,
                "passages": view.passages,
                "embedded_passages": view.embedded,
                "notes": list(view.notes),
                "chance": view.chance,
                "reranked": view.reranked,
                "hits": [_hit(document, hit) for document in view.documents for hit in _listed(view, document)],
            }
        )
        return
    if not view.documents:
        output.line("Nothing found.")
    chance = _chance_place(view)
    for rank, document in enumerate(view.documents, 1):
        if rank - 1 == chance:
            output.line("--- From here on no closer in meaning than chance.")
        changed = "" if document.state == "current" else f"  [{document.state}]"
        title = f"  {document.title}" if document.title else ""
        inside = f" > {display_path(document.member)}" if document.member else ""
        output.line(f"{rank:2}. {document.score:.3f}  {display_path(document.path)}{inside}{title}{changed}")
        for hit in document.hits:
            where = f"{hit.location}: " if hit.location else ""
            span = hit.best_sentence
            text = hit.text[span[0] :] if span else hit.text
            like = f"  (+ {hit.folded} nearly the same)" if hit.folded else ""
            output.line(f"      {where}{output.one_line(text, 150)}{like}")
        if document.more:
            output.line(f"      + {document.more} more passages")
    output.line(f"{view.milliseconds:.0f} ms.")


def _chance_place(view: SearchView) -> int:
    """Gives the first document from which on no cosine passes the line of chance; -1 for none."""
    place = len(view.documents)
    line = view.chance
    if line is None:
        return -1
    while place and all(hit.cosine is not None and hit.cosine < line for hit in view.documents[place - 1].hits):
        place -= 1
    return place if place < len(view.documents) else -1


def _listed(view: SearchView, document: DocumentView) -> tuple[HitView, ...]:
    """By document, one object per document: its best passage; the others stand inside it."""
    return document.hits[:1] if view.by == "document" else document.hits


def _hit(document: DocumentView, hit: HitView) -> dict[str, object]:
    fields = _hit_fields(hit)
    return {
        **output.path_fields(document.path),
        "member": document.member,
        "title": document.title,
        "format": document.format,
        "date": document.date,
        **fields,
        "stale": document.state != "current",
        "state": document.state,
        "paths": [output.path_fields(path)["path"] for path in document.paths],
        "more": document.more,
        "passages": [_hit_fields(other) for other in document.hits[1:]],
    }


def _hit_fields(hit: HitView) -> dict[str, object]:
    span = hit.best_sentence
    return {
        "score": hit.score,
        "score_kind": hit.score_kind.value,
        "cosine": hit.cosine,
        "bm25": hit.bm25,
        "rerank": hit.rerank,
        "folded": hit.folded,
        "judged": hit.judged,
        "text": hit.text,
        "start": hit.start,
        "end": hit.end,
        "page": hit.page,
        "location": hit.location,
        "best_sentence": hit.text[span[0] : span[1]] if span else None,
    }


# ---------------------------------------------------------------- models


def encode(options: argparse.Namespace) -> None:
    """Encodes the lines of a file into a NumPy array."""
    from sbert_desktop.app.encoding import encode_file

    with _session(options) as session, _console(options) as context:
        result = encode_file(
            session, options.file, options.output, context, pooling=options.pooling, prompt=options.prompt
        )
        if _json(options):
            output.emit(result)
        else:
            output.line(
                f"{result['n']:,} texts, {result['dimension']} dimensions, {result['seconds']:.2f} s, "
                f"{result['passages_per_second']:,.0f} passages/s, {result['tokens_per_second']:,.0f} tokens/s, "
                f"{result['backend']}."
            )


def evaluate(options: argparse.Namespace) -> None:
    """Measures the model and the search on judged data."""
    from sbert_desktop.app import evaluating

    with _session(options, create=True) as session, _console(options) as context:
        if options.kind == "retrieval":
            result = evaluating.run_retrieval(
                session, options.data, Mode(options.mode), context, words_weight=options.words_weight
            )
        elif options.kind == "clustering":
            result = _themes.evaluate(session, options, context)
        elif options.kind in _lab.KINDS:
            result = _lab.evaluate(session, options, context)
        else:
            run = {"sts": evaluating.run_sts, "pairs": evaluating.run_pairs, "triplets": evaluating.run_triplets}
            result = run[options.kind](session, options.data, context)
        context.clear()
        if _json(options):
            output.emit(result)
            return
        for key, value in result.items():
            output.line(f"{key:20} {value:.4f}" if isinstance(value, float) else f"{key:20} {value}")


def export(options: argparse.Namespace) -> None:
    """Writes hits, a collection, duplicates, themes or the map as a file."""
    elsewhere = {"duplicates": _duplicates.export, "clusters": _themes.export_clusters, "map": _map.export_map}
    if options.what in elsewhere:
        elsewhere[options.what](options)
        return
    from sbert_desktop.app import exporting
    from sbert_desktop.app.collecting import collection

    target: Path | None = None if options.output in (None, Path("-")) else options.output
    form = options.format or (exporting.form_of(target) if target is not None else "json" if _json(options) else "csv")
    if target is None and _json(options) and form != "json":
        raise UsageError("bad-arguments", f"--json and {form} both want the output.", "Give -o a file.")
    with _session(options) as session, _console(options) as context:
        if options.what == "hits":
            view = ask(session, options, context)
            context.clear()
            for line in view.notes:
                output.say(line)
            rows, heading, note = exporting.hit_rows(view), view.query, ""
        else:
            chosen = collection(session, options.name)
            rows, heading, note = exporting.collection_rows(chosen), chosen.name, chosen.note
        if target is None and _json(options):
            output.emit({"name": heading, "note": note, "rows": [exporting.row_fields(row) for row in rows]})
            return
        text = exporting.render(rows, form, heading=heading, note=note, line_end="\r\n" if target else "\n")
        if target is None:
            output.line(text.rstrip("\n"))
            return
        written = exporting.write(target, text, replace=options.force)
        if _json(options):
            output.emit({"written": output.path_fields(written), "format": form, "rows": len(rows)})
        else:
            output.line(f"{len(rows):,} passages written to {display_path(written)}.")


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    **_care.COMMANDS,
    **_quotes.COMMANDS,
    **_health.COMMANDS,
    **_duplicates.COMMANDS,
    **_lab.COMMANDS,
    "index": index,
    "status": status,
    "forget": forget,
    "extract": extract,
    "search": search,
    "similar": similar,
    "encode": encode,
    "evaluate": evaluate,
    "export": export,
    "models": _models.models,
    "clusters": _themes.clusters,
    "map": _map.make_map,
    "train": _train.train,
}
