"""Writes the lab's table, one row for each model and way to use it."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

from sbert_desktop.app.exporting import harmless, write
from sbert_desktop.app.training_views import LabRow, LabView

COLUMNS = tuple(field.name for field in dataclasses.fields(LabRow))


def export_lab(view: LabView, target: Path) -> Path:
    """Writes a table of comma-separated values: all columns, figures in full, nothing where none was measured.

    Raises:
        SbertDesktopError: ``output-unwritable``.
    """
    out = io.StringIO(newline="")
    out.write("\ufeff")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow((*COLUMNS, "data"))
    for row in view.rows:
        values = (*(getattr(row, column) for column in COLUMNS), view.data)
        writer.writerow("" if value is None else harmless(value) if isinstance(value, str) else value
                        for value in values)
    return write(target, out.getvalue(), replace=True)
