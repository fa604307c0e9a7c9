"""Arguments of the command line; nothing heavy is imported to show the help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from sbert_desktop import __version__
from sbert_desktop.errors import UsageError

_QUERY_HELP = """\
how to ask; nothing you type is an error:
  deposit back             words and meaning, the default
  "security deposit"       exactly this phrase; typographic quotes do too
  -draft  -"first draft"   not this word, not this phrase
  type:pdf,mail            a suffix, or pdf mail image sheet slides word text web book code
  folder:taxes             in a folder of this name, or folder:taxes/2023
  name:invoice             in the file's name
  after:2023-05  before:today  until:2023  date:"last week"  date:2021..2023
  size:>1mb  size:<=200kb  size:1mb..5mb
  lang:de  from:ada  to:ben  subject:"keys of the flat"  has:attachment
  in:thesis                in a collection
  -type:pdf                a minus leaves out; a comma means either: name:draft,final
A query of fields alone lists the newest documents. The options above narrow the query down further.
Put the query into single quotes, and -- before one that begins with a minus: search -- '-draft type:pdf'
"""
_POOLINGS = ("mean", "cls", "max", "mean_sqrt_len", "weightedmean", "lasttoken", "mean_last_4", "mean_last_2")


_INVALID = re.compile(r"invalid \w+ value: ('.*')$", re.DOTALL)
"""What argparse says of a text that cannot be read; it names the function that should have read it."""


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong with the arguments, so that it is reported as every other problem is."""

    def error(self, message: str) -> NoReturn:
        """Raises it.

        Raises:
            UsageError: ``bad-arguments``.
        """
        hint = f"See '{self.prog} --help'."
        if message.endswith("required: QUERY"):  # taken for an option
            hint = f"If the query begins with a minus, put -- before it. {hint}"
        message = _INVALID.sub(r"\1 is not what belongs here", message)
        raise UsageError("bad-arguments", f"{message[:1].upper()}{message[1:]}.", hint)


def _path(text: str) -> Path:
    """Gives a path; an empty text is refused, for ``Path("")`` would be the folder one happens to be in."""
    if not text:
        raise argparse.ArgumentTypeError("the name of a file or folder is empty")
    return Path(text)


def _file_or_output(text: str) -> Path:
    """Gives a path; that of standard output by its other names is ``-``."""
    return Path("-") if text in {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"} else _path(text)


def text(words: str) -> str:
    """Gives words a person typed; bytes that the locale could not read are read as UTF-8, else replaced."""
    if not any("\ud800" <= letter <= "\udfff" for letter in words):
        return words
    try:
        raw = words.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = words.encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")


def pattern(line: str) -> str:
    """Gives a pattern; one that can match nothing is refused, for it would leave out all or nothing unseen.

    Raises:
        argparse.ArgumentTypeError: It is blank, a comment, or not understood.
    """
    from sbert_desktop.app.rules import is_usable

    if not is_usable(line):
        raise argparse.ArgumentTypeError(f"{line!r} is no pattern")
    return line


def _weight(text: str) -> float:
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1")
    return value


def build_parser() -> argparse.ArgumentParser:
    """Gives the parser of all commands; it raises UsageError ``bad-arguments``."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--library", type=_path, metavar="DIR", help="the library's folder (or SBERT_DESKTOP_LIBRARY)")
    common.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else")
    common.add_argument("--quiet", action="store_true", help="no progress on standard error")

    parser = _Parser(
        prog="sbert-desktop",
        parents=[common],
        description="Explore your own folders by meaning, offline. Without a command it opens the window.",
    )
    parser.add_argument("--version", action="version", version=f"sbert-desktop {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def add(name: str, text: str) -> _Parser:
        return commands.add_parser(name, help=text, description=text, parents=[common])

    index = add("index", "Add folders, or bring all known folders up to date.")
    index.add_argument("paths", nargs="*", type=_path, metavar="PATH", help="folders to add")
    index.add_argument("--words-only", action="store_true", help="do not encode: findable by words only")
    index.add_argument(
        "--confirm-removals", action="store_true", help="files that are gone in great number were deleted"
    )
    index.add_argument("--no-wait", action="store_true", help="fail at once when another process writes to the library")

    add("status", "Show what is in the library.")
    _care(add)

    search = add("search", "Search by meaning and words.")
    search.add_argument("query", type=text, metavar="QUERY", help="what to look for")
    search.epilog, search.formatter_class = _QUERY_HELP, argparse.RawDescriptionHelpFormatter
    _search_options(search)

    similar = add("similar", "Find documents like a file.")
    similar.add_argument("path", type=_path, metavar="PATH")
    similar.add_argument("--top", type=int, default=10, metavar="K", help="how many documents (default 10)")

    draft = add("quotes", "Check the quotations of a draft: which file holds each, and what was changed.")
    draft.add_argument("draft", type=_path, metavar="DRAFT", help="a file of any kind, or - for standard input")
    versions = add("versions", "List the versions of a file, oldest first.")
    versions.add_argument("path", type=_path, metavar="PATH")

    doctor = add("doctor", "Look the library over: catalog, words, vectors, index, model, folders, daily copy.")
    doctor.add_argument("--repair", action="store_true", help="mend what can be; lost vectors are encoded again")
    restore = add(
        "restore", "Bring back judgements, collections, saved searches, captions and clusters from a daily copy."
    )
    restore.add_argument(
        "source", nargs="?", type=_path, metavar="FILE|DIR",
        help="a copy, or the folder of a library (default: the newest copy of this library that holds more than it)",
    )  # fmt: skip

    _duplicates(add)
    _atlas(add)
    _train(add("train", "Tune a model on labels, and compare it with the one before. Ctrl+C leaves a run to resume."))
    _lab(add)
    _export(add("export", "Write hits, a collection, duplicates, clusters or the map into a file."), common)

    extract = add("extract", "Show the text that would be indexed; needs no library.")
    extract.add_argument("paths", nargs="+", type=_path, metavar="PATH", help="files or folders")

    forget = add("forget", "Take a folder out of the library and erase its text; its files are untouched.")
    forget.add_argument("path", type=_path, metavar="PATH")
    forget.add_argument(
        "--no-wait", action="store_true", help="fail at once when another process writes to the library"
    )

    encode = add("encode", "Encode the lines of a text file into a NumPy array.")
    encode.add_argument("file", type=_path, metavar="F.txt")
    encode.add_argument("-o", "--output", type=_path, required=True, metavar="OUT.npy")
    encode.add_argument("--pooling", choices=_POOLINGS, default=None, help="another pooling than the model's own")
    encode.add_argument("--prompt", default="", help="text put before every line")

    _evaluate(add("evaluate", "Measure the model and the search on judged data."), common)

    models = add("models", "List, add, choose, remove or verify models, and the spaces that they made of the library.")
    models.add_argument(
        "action",
        choices=("list", "add", "use", "remove", "verify", "spaces", "back", "forget-space"),
        nargs="?",
        default="list",
        help="use: another encoder reads the library with the next 'index', then it is searched; spaces: list what "
        "each model made of it; back: search a kept space again, at once; forget-space: remove one",
    )
    models.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="of the model; to add one: its folder; of a space also its fingerprint",
    )
    models.add_argument(
        "--hub", metavar="NAME", help="add the model of this name on the hub, which is the one thing that goes online"
    )
    return parser


def _care(add: Callable[[str, str], _Parser]) -> None:
    """Commands for what was not read, and for keeping folders up to date."""
    problems = add("problems", "List files that were not read, or only in part, and why.")
    problems.add_argument(
        "--csv", type=_file_or_output, metavar="F", help="write them as CSV into a file, or - for the output"
    )
    problems.add_argument("--all", action="store_true", help="ignored ones too")
    retry = add("retry", "Read files again though they look unchanged.")
    retry.add_argument("paths", nargs="+", type=_path, metavar="PATH")
    ignore = add("ignore", "Take files off the list of problems until they change.")
    ignore.add_argument("paths", nargs="+", type=_path, metavar="PATH")
    ignore.add_argument("--undo", action="store_true", help="put them back on the list")
    unlock = add("unlock", "Open a protected file; the password is asked for, or the first line of standard input.")
    unlock.add_argument("path", type=_path, metavar="PATH")
    unlock.add_argument("--keep", action="store_true", help="keep the text in the library; the password is never kept")
    unlock.add_argument("--member", type=text, default="", metavar="NAME", help="a file inside the container")
    caption = add("caption", "Show, set or remove your own words about a file; they are searched like its text.")
    caption.add_argument("path", type=_path, metavar="PATH")
    words = caption.add_mutually_exclusive_group()
    words.add_argument("text", nargs="?", type=text, metavar="TEXT", help="the words, or - for standard input")
    words.add_argument("--remove", action="store_true", help="take them away")
    caption.add_argument("--member", type=text, default="", metavar="NAME", help="a file inside the container")
    rules = add("rules", "Show or set which files of a folder are read: patterns in the manner of .gitignore.")
    rules.add_argument("folder", type=_path, metavar="FOLDER")
    rules.add_argument(
        "--include", action="append", type=pattern, default=[], metavar="P", help="read only these; repeatable"
    )
    rules.add_argument(
        "--exclude", action="append", type=pattern, default=[], metavar="P", help="leave these out; repeatable"
    )
    rules.add_argument("--clear", action="store_true", help="drop the folder's rules first")
    add("watch", "Keep the library up to date until Ctrl+C; one line per update.")
    recognise = add("recognise", "Recognise the text of scans and pictures; needs Tesseract.")
    recognise.add_argument("paths", nargs="+", type=_path, metavar="PATH")
    locate = add("locate", "Say where a folder of the library lies now; nothing is read or encoded again.")
    locate.add_argument("folder", type=_path, metavar="FOLDER")
    locate.add_argument("place", type=_path, metavar="PLACE")
    add("programs", "Show which programs on this machine help with reading.")


def _search_options(search: argparse.ArgumentParser) -> None:
    search.add_argument("--top", type=int, default=10, metavar="K", help="how many documents (default 10)")
    search.add_argument("--mode", choices=("hybrid", "semantic", "keyword"), default="hybrid")
    search.add_argument("--folder", type=_path, metavar="P", help="only in this folder")
    search.add_argument("--type", action="append", default=[], metavar="EXT", help="only this kind of file; repeatable")
    search.add_argument("--after", metavar="D", help="on or after this day: 2023, 2023-05-31, today, last-week")
    search.add_argument("--before", metavar="D", help="before this day")
    search.add_argument(
        "--language", action="append", default=[], metavar="CODE", help="only in this language: en, de..."
    )
    search.add_argument("--by", choices=("document", "passage"), default="document")
    search.add_argument(
        "--rerank", action="store_true", help="let the cross-encoder in use read the best passages again"
    )
    search.add_argument(
        "--fold", action="store_true", help="name documents that say nearly the same only once, with a count"
    )
    search.add_argument(
        "--words-weight",
        type=_weight,
        default=None,
        metavar="W",
        help="weight of words in hybrid mode, 0 to 1 (default: the setting, 0.4)",
    )


_RULES_HELP = """\
rules, apart by commas; the first that tells two copies apart decides which one stays:
  newest  oldest  largest  smallest  shortest-path  no-copy-name  best-format  last-version
  in:FOLDER            copies in it stay             not-in:FOLDER   copies in it go first
  tick:bytes+text      kinds that are ticked: bytes (the default), text, format, near, contained
  protect:FOLDER       nothing in it is ever ticked  only-in:FOLDER  ticks only in it         invert
Numbers that differ, related documents, signed files, files with sentences that the kept one lacks, and what lies
in mails and archives are never ticked. Without --yes nothing is moved. What is moved goes to the trash: 'undo'.
"""


def _duplicate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kind", choices=("bytes", "text", "near", "related", "all"), default="all", help="only groups of this kind"
    )
    parser.add_argument(
        "--threshold", type=_share, default=None, metavar="T",
        help="similarity from which near and related documents make a group, 0.7 to 1 (default 0.8)",
    )  # fmt: skip
    parser.add_argument("--folder", type=_path, metavar="P", help="only in this folder")
    parser.add_argument("--type", action="append", default=[], metavar="EXT", help="only this kind of file; repeatable")


def _share(text: str) -> float:
    value = float(text)
    if not 0.7 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0.7 and 1")
    return value


def _duplicates(add: Callable[[str, str], _Parser]) -> None:
    found = add("duplicates", "Report duplicates; with --apply RULES --yes move what the rules tick to the trash.")
    found.epilog, found.formatter_class = _RULES_HELP, argparse.RawDescriptionHelpFormatter
    _duplicate_options(found)
    found.add_argument("--apply", type=text, metavar="RULES", help="choose by these rules, and show what would go")
    found.add_argument("--yes", action="store_true", help="move it to the trash")
    back = add("undo", "Bring back what the last clean-up moved to the trash.")
    back.add_argument("paths", nargs="*", type=_path, metavar="PATH", help="only these files")
    back.add_argument("--id", metavar="ID", help="of another clean-up, as --list shows it")
    back.add_argument("--list", action="store_true", help="show the clean-ups instead")
    have = add("have", "Tell whether the library has a file already: identical, another version, similar, or new.")
    have.add_argument("path", type=_path, metavar="PATH")


def _atlas(add: Callable[[str, str], _Parser]) -> None:
    found = add("clusters", "Show the clusters of the library; without options those that the window shows.")
    _cluster_options(found)
    found.add_argument("--split", type=int, metavar="ID", help="show what splitting this cluster would make")
    found.add_argument("--rename", nargs=2, metavar=("ID", "NAME"), help='give a cluster a name; "" gives its own back')
    plane = add("map", "Lay the library out in the plane; without options the map that the window shows.")
    _map_options(plane)
    plane.add_argument("--csv", type=_file_or_output, metavar="F", help="write path, x, y, cluster; - for the output")
    plane.add_argument("--png", type=_path, metavar="F", help="draw it")
    plane.add_argument("--size", type=_size, default=(3508, 2480), metavar="WxH", help="of the picture (A4 at 300 dpi)")
    plane.add_argument("--dark", action="store_true", help="draw light on dark")
    plane.add_argument("--html", type=_path, metavar="F", help="write a page that opens offline in a browser")
    plane.add_argument("--force", action="store_true", help="replace files that are there")


def _cluster_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method", choices=("auto", "communities", "kmeans", "hdbscan", "threshold"), default=None,
        help="find them anew by this method (auto is communities)",
    )  # fmt: skip
    parser.add_argument("--count", type=_count, default=None, metavar="K", help="find so many")
    parser.add_argument("--detail", type=_detail, default=None, metavar="D", help="fewer (-1) to more (1)")
    parser.add_argument("--seed", type=_seed, default=0, metavar="N", help="of what is drawn by lot (default 0)")
    parser.add_argument(
        "--strictness", type=_weight, default=None, metavar="S",
        help="how sure a document must be of its cluster, 0 to 1 (default 0.25); the others are unsorted",
    )  # fmt: skip
    parser.add_argument("--again", action="store_true", help="find them anew with the settings they were found with")


def _map_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--unit", choices=("documents", "passages"), default="documents", help="what a point is")
    parser.add_argument("--method", choices=("umap", "pca"), default=None, help="default: as it was, else umap")
    parser.add_argument("--neighbours", type=_count, default=None, metavar="K", help="of each point (default 15)")
    parser.add_argument("--minimum-distance", type=_weight, default=None, metavar="D", help="of points (default 0.1)")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="the same gives the same map (default 0)")
    parser.add_argument("--refit", action="store_true", help="lay it out anew, registered to the old one")


def _train(parser: _Parser) -> None:
    parser.add_argument(
        "labels", nargs="*", type=_path, metavar="PAIRS.csv",
        help="text_a,text_b,label; or sentence1,sentence2,score; anchor,positive[,negative]; premise,hypothesis,label; "
        "question,passage,relevant",
    )  # fmt: skip
    parser.add_argument("--name", type=text, default="", metavar="NAME", help="of the new model")
    parser.add_argument("--base", type=text, default="", metavar="M", help="model to begin with (default: that in use)")
    parser.add_argument("--kind", choices=("encoder", "cross-encoder"), default="encoder", help="what is trained")
    parser.add_argument(
        "--label-kind", default="", choices=("pairs", "positives", "graded", "triplets", "nli", "relevance"),
        help="what the tables hold (default: found out)",
    )  # fmt: skip
    parser.add_argument("--loss", default="auto", metavar="L", help="auto, or a name that an unknown one lists")
    parser.add_argument("--epochs", type=_count, default=None, metavar="E", help="how often each label is seen")
    parser.add_argument("--batch", type=_count, default=None, metavar="B", help="labels in a step")
    parser.add_argument("--lr", type=float, default=None, metavar="X",
                        help="learning rate (default 2e-5; 2e-4 for a cross-encoder made of an encoder)")  # fmt: skip
    parser.add_argument("--margin", type=float, default=None, metavar="X", help="of a loss that has one")
    parser.add_argument("--seed", type=_seed, default=0, metavar="S", help="of what is drawn by lot (default 0)")
    parser.add_argument("--max-tokens", type=_count, default=None, metavar="N", help="read of a text while training")
    parser.add_argument("--held-out", type=_weight, default=0.25, metavar="F", help="share kept aside (default 0.25)")
    parser.add_argument("--patience", type=int, default=3, metavar="N",
                        help="looks without a gain until it stops early; 0: never (default 3)")  # fmt: skip
    parser.add_argument("--hard-negatives", type=int, default=0, metavar="N", help="looked for, for each positive")
    parser.add_argument("--judgements", action="store_true", help="learn from the library's own judgements (too)")
    parser.add_argument("--task", choices=("same", "answers"), default="same", help="which of them (default same)")
    parser.add_argument("--list", action="store_true", help="list trainings")
    parser.add_argument("--resume", type=text, default="", metavar="RUN", help="go on with a training")
    deed = parser.add_mutually_exclusive_group()
    deed.add_argument("--adopt", action="store_true", help="use the new model, if it is clearly better")
    deed.add_argument("--keep", action="store_true", help="put the new model among the models")
    deed.add_argument("--discard", action="store_true", help="with --resume: remove the training")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**32:  # what scikit-learn takes
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 4294967295")
    return value


def _detail(text: str) -> float:
    value = float(text)
    if not -1.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} does not lie between -1 and 1")
    return value


def _size(text: str) -> tuple[int, int]:
    wide, _, high = text.lower().partition("x")
    try:
        width, height = int(wide), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 3508x2480") from None
    if not (64 <= width <= 20_000 and 64 <= height <= 20_000):
        raise argparse.ArgumentTypeError(f"{text}: each side has from 64 to 20,000 pixels")
    return width, height


_LAB_HELP = """\
data: judgements (what you judged; also judgements:same, judgements:answers, judgements:grades), or what 'evaluate'
reads: CSV with sentence1,sentence2,score | text_a,text_b,label | anchor,positive,negative | text,label |
query,text,label | sentence1,sentence2, a file of JSON lines for reranking, or a folder for retrieval.
ways: pooling (cls, mean, max, mean_sqrt_len, mean_last_2, mean_last_4), dimensions (PCA and cuts to 256, 128, 64),
int8 (vectors of one byte a number). The loss of a way is paired: the same texts, with its 95 % interval.
"""


def _lab(add: Callable[[str, str], _Parser]) -> None:
    lab = add("lab", "Compare models, and ways to use them, on your judgements or on a file.")
    lab.epilog, lab.formatter_class = _LAB_HELP, argparse.RawDescriptionHelpFormatter
    lab.add_argument("--models", nargs="+", default=[], metavar="NAME", help="default: all encoders that are installed")
    lab.add_argument("--data", type=text, default="judgements", metavar="judgements|FILE", help="what to measure on")
    lab.add_argument("--ways", nargs="+", default=[], choices=("pooling", "dimensions", "int8"), metavar="WAY")
    lab.add_argument("--last", action="store_true", help="show what was measured last, and measure nothing")
    lab.add_argument("--csv", type=_path, metavar="F", help="write the table")


def _export(parser: _Parser, common: _Parser) -> None:
    things = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name, words in (("hits", "What a query finds."), ("collection", "What a collection holds.")):
        thing = things.add_parser(name, help=words, description=words, parents=[common])
        if name == "hits":
            thing.add_argument("query", type=text, metavar="QUERY", help="what to look for, as in 'search'")
            _search_options(thing)
        else:
            thing.add_argument("name", type=text, metavar="NAME", help="of the collection")
        thing.add_argument(
            "--format", choices=("csv", "json", "html", "bib"), default=None,
            help="default: as the end of FILE says, else csv",
        )  # fmt: skip
        _output(thing)
    groups = "Groups of duplicates."
    thing = things.add_parser("duplicates", help=groups, description=groups, parents=[common])
    _duplicate_options(thing)
    thing.add_argument(
        "--format", choices=("csv", "json", "html"), default=None, help="default: as FILE says, else csv"
    )
    _output(thing)
    for name, words, options in (
        ("clusters", "The clusters with their documents.", _cluster_options),
        ("map", "Where each document lies on the map, or a page with the map.", _map_options),
    ):
        thing = things.add_parser(name, help=words, description=words, parents=[common])
        options(thing)
        thing.add_argument(
            "--format", choices=("csv", "json", "html"), default=None, help="default: as FILE says, else csv"
        )
        _output(thing)


def _output(thing: argparse.ArgumentParser) -> None:
    thing.add_argument("-o", "--output", type=_file_or_output, metavar="FILE", help="a file instead of the output")
    thing.add_argument("--force", action="store_true", help="replace FILE if it is there")


_EVALUATE_HELP = {
    "classification": """\
Each experiment draws N texts of each label to learn from and asks all texts of the test part; the figures are means
over the experiments. Without --test half of each label's texts, drawn by lot, are the test part. Logistic regression
with scikit-learn's loss (C = 1, at most 100 steps). MTEB's definition with its defaults.
""",
    "reranking": """\
CSV: one candidate in each row, label above 0 where it answers the query. A file that ends in .jsonl holds lines such as
  {"query": "...", "positive": ["..."], "negative": ["..."]}
Queries without an answer, or with nothing but answers, are passed over. MTEB's definition.
""",
    "bitext": """\
Each row is a text and its translation (also: source,target or text_a,text_b). A translation is found where it is the
nearest of all texts of the other side. accuracy and f1 are the means of both directions. MTEB's definition.
""",
}


def _evaluate(parser: _Parser, common: _Parser) -> None:
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    texts = {
        "sts": "Spearman of cosine against graded pairs (sentence1,sentence2,score).",
        "pairs": "Average precision and best F1 on labelled pairs (text_a,text_b,label).",
        "triplets": "Accuracy on triplets (anchor,positive,negative).",
        "retrieval": "nDCG@10, MRR@10, recall@100 on a BEIR folder.",
        "clustering": "V-measure and adjusted Rand index of the clusters of labelled texts (text,label).",
        "classification": "Accuracy and macro F1 of logistic regression on the vectors of labelled texts (text,label).",
        "reranking": "MAP and MRR@10 of candidates in order of similarity (query,text,label; or JSON lines).",
        "bitext": "Accuracy and F1 of finding translations, both directions (sentence1,sentence2).",
    }
    for name, text in texts.items():
        kind = kinds.add_parser(name, help=text, description=text, parents=[common])
        kind.add_argument("data", type=_path, metavar="DIR" if name == "retrieval" else "F.csv")
        if name == "retrieval":
            kind.add_argument("--mode", choices=("hybrid", "semantic", "keyword"), default="hybrid")
            kind.add_argument("--words-weight", type=_weight, default=0.4, metavar="W")
        if name in _EVALUATE_HELP:
            kind.epilog, kind.formatter_class = _EVALUATE_HELP[name], argparse.RawDescriptionHelpFormatter
        if name == "classification":
            kind.add_argument("--test", type=_path, metavar="F.csv", help="the texts to ask; else half of the others")
            kind.add_argument("--samples", type=_count, default=8, metavar="N", help="texts learned per label (8)")
            kind.add_argument("--experiments", type=_count, default=10, metavar="N", help="how often (10)")
            kind.add_argument("--seed", type=_seed, default=42, metavar="N", help="of what is drawn by lot (42)")
        if name == "clustering":
            kind.add_argument(
                "--method", choices=("auto", "communities", "kmeans", "hdbscan", "threshold"), default="auto"
            )
            kind.add_argument("--count", type=_count, default=None, metavar="K", help="find so many clusters")
            kind.add_argument("--seed", type=_seed, default=0, metavar="N")
