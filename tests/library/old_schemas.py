"""Libraries as earlier releases made them: the tables of each released schema, kept as they were."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sbert_desktop.library import _health, _schema

VERSION_1 = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE folder(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, added REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'active', words_only INTEGER NOT NULL DEFAULT 0, last_scan REAL) STRICT;
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
  UNIQUE(path, member)) STRICT;
CREATE INDEX file_content ON file(content);
CREATE INDEX file_folder ON file(folder, read_at);
CREATE INDEX file_parent ON file(parent) WHERE parent IS NOT NULL;
CREATE INDEX file_read ON file(read_at);
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
"""

VERSION_2 = """
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
"""

VERSION_3 = """
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
"""

TABLES = {1: VERSION_1, 2: VERSION_2, 3: VERSION_3}


def make_old(library: Path, version: int) -> None:
    """Turns a library into one of an earlier schema: the old tables with what they can hold of its rows."""
    new = library / "catalog.sqlite"
    old = library / "old.sqlite"
    with closing(sqlite3.connect(new)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(TABLES[version])
        connection.execute("ATTACH ? AS new", (str(new),))
        connection.execute("BEGIN")
        tables = [row[0] for row in connection.execute("SELECT name FROM main.sqlite_schema WHERE type='table'")]
        for table in tables:
            columns = ",".join(f'"{row[1]}"' for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"DELETE FROM main.{table}")
            connection.execute(f"INSERT INTO main.{table}({columns}) SELECT {columns} FROM new.{table}")
        for (segmentation,) in connection.execute("SELECT id FROM main.segmentation").fetchall():
            _health.rebuild_words(connection, segmentation)
        connection.execute("COMMIT")
        connection.execute("DETACH new")
        connection.execute(f"PRAGMA application_id={_schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={version}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for beside in ("-wal", "-shm"):
        (library / f"catalog.sqlite{beside}").unlink(missing_ok=True)
        (library / f"old.sqlite{beside}").unlink(missing_ok=True)
    shutil.move(old, new)
    new.chmod(0o600)
