"""What was computed lies on a shelf that may go at any time."""

from __future__ import annotations

from sbert_desktop.library._shelf import FILE, Shelf


def test_what_was_put_there_is_found_again_and_what_was_not_is_not(tmp_path):
    Shelf(tmp_path).put({"a:1": b"one", "a:2": b"two", "b:1": b"three"})
    assert Shelf(tmp_path).get(["a:2", "b:1", "c"]) == {"a:2": b"two", "b:1": b"three"}
    Shelf(tmp_path).put({"a:1": b"new"})
    assert Shelf(tmp_path).get(["a:1"]) == {"a:1": b"new"}


def test_thousands_of_keys_at_once(tmp_path):
    shelf = Shelf(tmp_path)
    things = {f"key:{n}": bytes([n % 256]) for n in range(3000)}
    shelf.put(things)
    assert shelf.get(things) == things


def test_only_the_kept_of_a_prefix_stay(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.put({"a:1": b"1", "a:2": b"2", "b:1": b"3"})
    shelf.keep_only("a:", ["a:2"])
    assert shelf.get(["a:1", "a:2", "b:1"]) == {"a:2": b"2", "b:1": b"3"}


def test_damaged_missing_or_read_only_it_is_empty_and_nothing_fails(tmp_path):
    assert Shelf(tmp_path).get(["a"]) == {}
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    shelf = Shelf(tmp_path)
    assert shelf.get(["a"]) == {}  # and is gone now
    shelf.put({"a": b"1"})
    assert shelf.get(["a"]) == {"a": b"1"}
    closed = Shelf(tmp_path, read_only=True)
    closed.put({"b": b"2"})
    closed.keep_only("a", [])
    assert closed.get(["a", "b"]) == {"a": b"1"}


def test_nobody_else_may_read_it(tmp_path):
    Shelf(tmp_path).put({"a": b"1"})
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
