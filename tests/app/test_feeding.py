"""The queue between reading and storing: bounded in files and in characters."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from sbert_desktop.app import feeding
from sbert_desktop.app.feeding import END, NOTHING, Feeder
from sbert_desktop.domain import ExtractedText, SourceFile
from sbert_desktop.jobs import NullContext


def test_large_texts_wait_until_there_is_room_and_none_is_lost(monkeypatch):
    monkeypatch.setattr(feeding, "_CHARACTERS_AHEAD", 250)
    given, blocked = [], threading.Event()

    def source(context):
        for number in range(9):
            if number == 3:
                blocked.set()  # two of 100 fit, the third waits in the hands of the thread
            given.append(number)
            yield SourceFile(Path(f"part-{number}"), 1, 1), ExtractedText("txt", "x" * 100)

    feeder = Feeder(source, NullContext(), lambda: None)
    try:
        end = time.monotonic() + 60
        while len(given) < 3:
            assert time.monotonic() < end
            time.sleep(0.001)
        assert not blocked.wait(0.3)
        assert given == [0, 1, 2]
        taken = []
        while (item := feeder.take(wait=True)) is not END:
            if item is not NOTHING:
                taken.append(item[0].path.name)
        assert taken == [f"part-{number}" for number in range(9)]
    finally:
        feeder.close()


def test_a_text_beyond_the_limit_passes_alone(monkeypatch):
    monkeypatch.setattr(feeding, "_CHARACTERS_AHEAD", 10)
    texts = [(SourceFile(Path("a"), 1, 1), ExtractedText("txt", "x" * 100))] * 3
    feeder = Feeder(lambda context: iter(texts), NullContext(), lambda: None)
    try:
        taken = 0
        while (item := feeder.take(wait=True)) is not END:
            taken += item is not NOTHING
        assert taken == 3
    finally:
        feeder.close()


def test_a_source_that_ends_when_it_was_closed_ends_its_thread_in_silence(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    for ends_badly in (False, True):
        begun, closed = threading.Event(), threading.Event()

        def source(context, ends_badly=ends_badly, begun=begun, closed=closed):
            begun.set()
            assert closed.wait(60)
            if ends_badly:
                raise ValueError("a child that was killed")
            yield from ()

        feeder = Feeder(source, NullContext(), closed.set)
        assert begun.wait(60)
        feeder.close()
        assert told == []
