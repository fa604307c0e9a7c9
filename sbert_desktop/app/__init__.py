"""Use cases: the only place that knows several rooms. No Qt, and nothing heavy at import."""
