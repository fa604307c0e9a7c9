"""The catalog's tables, and how a connection to it is opened.

Only SQLite itself may open ``catalog.sqlite`` and ``lock.sqlite``: on POSIX a plain open and close
in the same process drops the locks that SQLite holds on the file.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from sbert_desktop.errors import LibraryError

CATALOG = "catalog.sqlite"
APPLICATION_ID = 0x53424454  # "SBDT"
SCHEMA_VERSION = 4
BUSY_SECONDS = 5.0
BACKUPS_KEPT = 3

# Ids are AUTOINCREMENT so that an id is never used twice: snapshots index arrays with them. STRICT lets the
# checks of SQLite find a value of the wrong kind.
TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE folder(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, added REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'active', words_only INTEGER NOT NULL DEFAULT 0, last_scan REAL,
  rules TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE content(
  id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT NOT NULL, extractor_version INTEGER NOT NULL,
  format TEXT NOT NULL, language TEXT NOT NULL, title TEXT NOT NULL, date REAL, characters INTEGER NOT NULL,
  blocks BLOB NOT NULL, metadata TEXT NOT NULL, problems TEXT NOT NULL,
  UNIQUE(sha256, extractor_version)) STRICT;
CREATE TABLE text_part(
  content INTEGER NOT NULL REFERENCES content(id), part INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(content, part)) STRICT, WITHOUT ROWID;
CREATE TABLE file(
  id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER NOT NULL REFERENCES folder(id), path BLOB NOT NULL,
  member TEXT NOT NULL DEFAULT '', parent INTEGER REFERENCES file(id), size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
  content INTEGER REFERENCES content(id), sha256 TEXT NOT NULL DEFAULT '', read_at REAL NOT NULL,
  cursor TEXT NOT NULL DEFAULT '', reading INTEGER NOT NULL DEFAULT 0, unfinished INTEGER NOT NULL DEFAULT 0,
  ignored INTEGER NOT NULL DEFAULT 0, extractor_version INTEGER NOT NULL DEFAULT 1,
  captions INTEGER REFERENCES file(id),
  UNIQUE(path, member)) STRICT;
CREATE INDEX file_content ON file(content);
CREATE INDEX file_folder ON file(folder, read_at);
CREATE INDEX file_parent ON file(parent) WHERE parent IS NOT NULL;
CREATE INDEX file_read ON file(read_at);
CREATE INDEX file_captions ON file(captions) WHERE captions IS NOT NULL;
CREATE TABLE caption(
  sha256 TEXT PRIMARY KEY, folder INTEGER NOT NULL REFERENCES folder(id), text BLOB NOT NULL, made REAL NOT NULL)
  STRICT, WITHOUT ROWID;
CREATE INDEX caption_folder ON caption(folder);
CREATE TABLE problem(
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES file(id), code TEXT NOT NULL, message TEXT NOT NULL,
  hint TEXT NOT NULL, partial INTEGER NOT NULL) STRICT;
CREATE INDEX problem_file ON problem(file);
CREATE TABLE segmentation(
  id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, tokenizer TEXT NOT NULL, max_tokens INTEGER NOT NULL,
  rules TEXT NOT NULL) STRICT;
CREATE TABLE segmented(
  segmentation INTEGER NOT NULL REFERENCES segmentation(id), content INTEGER NOT NULL REFERENCES content(id),
  first INTEGER NOT NULL, passages INTEGER NOT NULL, embeddable INTEGER NOT NULL, characters INTEGER NOT NULL,
  lengths BLOB NOT NULL,
  PRIMARY KEY(segmentation, content)) STRICT, WITHOUT ROWID;
CREATE INDEX segmented_content ON segmented(content);
CREATE TABLE passage(
  id INTEGER PRIMARY KEY AUTOINCREMENT, segmentation INTEGER NOT NULL, content INTEGER NOT NULL,
  ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, input_sha BLOB NOT NULL,
  embedded INTEGER NOT NULL, page INTEGER, heading TEXT NOT NULL, part TEXT NOT NULL, context TEXT NOT NULL,
  FOREIGN KEY(segmentation, content) REFERENCES segmented(segmentation, content)) STRICT;
CREATE TABLE space(
  id INTEGER PRIMARY KEY AUTOINCREMENT, fingerprint TEXT NOT NULL UNIQUE,
  segmentation INTEGER NOT NULL REFERENCES segmentation(id), dimension INTEGER NOT NULL, name TEXT NOT NULL,
  state TEXT NOT NULL, generation INTEGER NOT NULL, rows INTEGER NOT NULL) STRICT;
CREATE INDEX passage_content ON passage(content, segmentation, ordinal);
CREATE UNIQUE INDEX space_active ON space(state) WHERE state = 'active';
CREATE TABLE row(
  space INTEGER NOT NULL REFERENCES space(id), row INTEGER NOT NULL, passage INTEGER NOT NULL REFERENCES passage(id),
  input_sha BLOB NOT NULL, PRIMARY KEY(space, row)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX row_passage ON row(passage, space);
CREATE INDEX row_input ON row(input_sha, space);
CREATE TABLE dead_row(
  space INTEGER NOT NULL REFERENCES space(id), row INTEGER NOT NULL, PRIMARY KEY(space, row)) STRICT, WITHOUT ROWID;
CREATE TABLE todo(
  space INTEGER NOT NULL REFERENCES space(id), content INTEGER NOT NULL REFERENCES content(id),
  mtime_ns INTEGER NOT NULL, passages INTEGER NOT NULL, characters INTEGER NOT NULL,
  PRIMARY KEY(space, content)) STRICT, WITHOUT ROWID;
CREATE INDEX todo_order ON todo(space, mtime_ns);
CREATE INDEX todo_content ON todo(content);
CREATE TABLE index_state(
  space INTEGER PRIMARY KEY REFERENCES space(id), file TEXT NOT NULL, rows INTEGER NOT NULL, count INTEGER NOT NULL,
  dimension INTEGER NOT NULL, metric TEXT NOT NULL, parameters TEXT NOT NULL, sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL) STRICT;
CREATE TABLE change(seq INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, id INTEGER NOT NULL) STRICT;
CREATE TABLE history(query TEXT PRIMARY KEY, used REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX history_used ON history(used);
CREATE TABLE judgement(
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, verdict TEXT NOT NULL, query TEXT NOT NULL DEFAULT '',
  sha256_a TEXT NOT NULL, start_a INTEGER NOT NULL, end_a INTEGER NOT NULL, text_a TEXT NOT NULL,
  sha256_b TEXT NOT NULL DEFAULT '', start_b INTEGER NOT NULL DEFAULT 0, end_b INTEGER NOT NULL DEFAULT 0,
  text_b TEXT NOT NULL DEFAULT '', made REAL NOT NULL) STRICT;
CREATE INDEX judgement_a ON judgement(sha256_a);
CREATE TABLE collection(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, note TEXT NOT NULL, made REAL NOT NULL) STRICT;
CREATE TABLE collection_item(
  id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL REFERENCES collection(id), sha256 TEXT NOT NULL,
  start INTEGER NOT NULL, end INTEGER NOT NULL, text TEXT NOT NULL, note TEXT NOT NULL, path BLOB NOT NULL,
  member TEXT NOT NULL, title TEXT NOT NULL, page INTEGER, added REAL NOT NULL,
  UNIQUE(collection, sha256, start, end)) STRICT;
CREATE TABLE saved_search(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, query TEXT NOT NULL, saved REAL NOT NULL,
  seen INTEGER NOT NULL) STRICT;
CREATE TABLE arrangement(name TEXT PRIMARY KEY, data BLOB NOT NULL, changed REAL NOT NULL) STRICT, WITHOUT ROWID;
"""

# What schemas 3 and 4 added, word for word as it stands above: a catalog that was brought forward has the same shape.
_NEW_IN_4 = TABLES[TABLES.index("CREATE TABLE arrangement") :]
_NEW_IN_3 = TABLES[TABLES.index("CREATE INDEX judgement_a") : -len(_NEW_IN_4)]


def _to_2(connection: sqlite3.Connection) -> None:
    """Members, captions, rules of folders, files that are ignored; which extractor read each file."""
    for column in (
        "cursor TEXT NOT NULL DEFAULT ''",
        "reading INTEGER NOT NULL DEFAULT 0",
        "unfinished INTEGER NOT NULL DEFAULT 0",
        "ignored INTEGER NOT NULL DEFAULT 0",
        "extractor_version INTEGER NOT NULL DEFAULT 1",
        "captions INTEGER REFERENCES file(id)",
    ):
        connection.execute(f"ALTER TABLE file ADD COLUMN {column}")
    connection.execute("ALTER TABLE folder ADD COLUMN rules TEXT NOT NULL DEFAULT ''")
    connection.execute(
        "UPDATE file SET extractor_version=(SELECT c.extractor_version FROM content c WHERE c.id=file.content)"
        " WHERE content IN (SELECT id FROM content WHERE extractor_version!=1)"
    )
    connection.execute("CREATE INDEX file_captions ON file(captions) WHERE captions IS NOT NULL")
    connection.execute(
        "CREATE TABLE caption(sha256 TEXT PRIMARY KEY, folder INTEGER NOT NULL REFERENCES folder(id),"
        " text BLOB NOT NULL, made REAL NOT NULL) STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX caption_folder ON caption(folder)")


def _to_3(connection: sqlite3.Connection) -> None:
    """Collections and saved searches."""
    for statement in _NEW_IN_3.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def _to_4(connection: sqlite3.Connection) -> None:
    """Arrangements: themes as the person left them."""
    connection.execute(_NEW_IN_4)


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _to_2, 2: _to_3, 3: _to_4}
"""Version n -> the step that makes it n + 1, inside one transaction with the others."""


def connect(folder: Path, *, mode: str) -> sqlite3.Connection:
    """Opens the catalog in autocommit mode with every safety pragma set.

    Args:
        folder: The library's folder.
        mode: ``rw``, ``ro`` or ``immutable`` (nothing can change it: no locks, no WAL).
    """
    path = quote(os.fsencode(folder / CATALOG))
    query = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
    connection = sqlite3.connect(
        f"file:{path}?{query}", uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    pragmas = ["foreign_keys=ON", "trusted_schema=OFF", "temp_store=MEMORY", "cache_size=-16000"]
    if mode == "rw":
        pragmas += ["synchronous=FULL", "journal_size_limit=67108864", "secure_delete=ON"]
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def create(folder: Path) -> None:
    """Makes an empty catalog; harmless when another process has just made it."""
    make_private(folder / CATALOG)
    connection = connect(folder, mode="rw")
    try:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # only an empty file can be told so
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN EXCLUSIVE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("INSERT INTO meta VALUES('created', ?)", (str(time.time()),))
        connection.execute("COMMIT")
    finally:
        connection.close()


def make_private(path: Path) -> None:
    """Makes an empty file with mode 0600 unless there is one; never opens an existing one."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass


def version_of(connection: sqlite3.Connection) -> int:
    """Gives the schema version of an open catalog.

    Raises:
        LibraryError: ``library-newer`` or ``library-damaged`` (not a catalog of ours).
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise LibraryError(
            "library-newer",
            f"This library was made by a newer version of the program (schema {version}, known {SCHEMA_VERSION}).",
            "Nothing was changed. Update the program, or choose another library.",
        )
    if int(connection.execute("PRAGMA application_id").fetchone()[0]) not in (APPLICATION_ID, 0):
        raise LibraryError(
            "library-damaged", f"{CATALOG} in this folder is not a library of this program.", "Choose another folder."
        )
    return version


def migrate(folder: Path, connection: sqlite3.Connection) -> None:
    """Brings an older catalog to this version: backup first, then one transaction.

    The caller holds the writer's lock.
    """
    version = version_of(connection)
    if version in (0, SCHEMA_VERSION):
        return
    back_up(folder, connection, version)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version, SCHEMA_VERSION):
            MIGRATIONS[step](connection)
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def back_up(folder: Path, connection: sqlite3.Connection, version: int) -> Path:
    """Copies the catalog into ``backups/`` and keeps the last three copies."""
    target = folder / "backups"
    target.mkdir(mode=0o700, exist_ok=True)
    path = target / f"catalog-v{version}-{time.time_ns()}.sqlite"
    make_private(path)
    copy = sqlite3.connect(path)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    for old in backups(folder)[BACKUPS_KEPT:]:
        old.unlink(missing_ok=True)
    return path


def backups(folder: Path) -> list[Path]:
    """Lists the copies of the catalog, newest first."""
    return sorted(
        (folder / "backups").glob("catalog-v*.sqlite"), key=lambda p: int(p.stem.split("-")[-1]), reverse=True
    )
