"""Models, their states and what the lab measures, in the window's words."""

from __future__ import annotations

import time
from typing import Final

from sbert_desktop.app.training_views import LabRow, LabView, SpaceView
from sbert_desktop.app.views import ModelView, UnreadLanguage
from sbert_desktop.ui import words

LANGUAGES: Final = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
SECOND: Final = "cross-encoder"
SECOND_WORDS: Final = ("A second look compares your question with each of the first hits, word by word, and puts the "
                       "best ones first. It takes a moment longer; the first hits are shown at once.")
_LICENCES: Final = {
    "apache-2.0": "Apache 2.0", "mit": "MIT", "bsd-3-clause": "BSD, 3 clauses", "cc-by-4.0": "CC BY 4.0",
    "cc-by-sa-4.0": "CC BY-SA 4.0", "cc-by-nc-4.0": "CC BY-NC 4.0, not for business",
    "cc-by-nc-sa-4.0": "CC BY-NC-SA 4.0, not for business", "gemma": "Gemma's own", "other": "its own, see its card",
    "unknown": "not stated",
}  # fmt: skip
_POOLINGS: Final = {
    "mean": "Mean", "cls": "First token (cls)", "max": "Maximum", "mean_sqrt_len": "Mean over the root of the length",
    "mean_sqrt": "Mean over the root of the length", "weightedmean": "Weighted mean", "lasttoken": "Last token",
    "mean_last_4": "Mean of the last 4 layers", "mean_last_2": "Mean of the last 2 layers",
}  # fmt: skip
# What each metric says, as the head of a plot: words, and whether it is shown as so many of 100.
_METRICS: Final = {
    "accuracy@1": "Right document first, of 100 questions", "hit@1": "Right document first, of 100 questions",
    "mrr@10": "How high the right document stands", "ndcg@10": "How well the first ten are in order",
    "map": "How well all hits are in order", "map@100": "How well all hits are in order",
    "recall@100": "Right documents among the first hundred", "ap": "Same told from different",
    "average precision": "Same told from different", "f1": "Same told from different, at the best threshold",
    "spearman": "Agreement with your grades", "pearson": "Agreement with your grades",
    "accuracy": "Right answers, of 100", "triplet accuracy": "The nearer one found, of 100",
}  # fmt: skip


def languages(model: ModelView) -> str:
    """Gives the languages that a model reads."""
    if not model.languages:
        return "not known"
    if len(model.languages) > 3:
        return f"{len(model.languages)} languages"
    return words.listed([LANGUAGES.get(code, code) for code in model.languages])


def all_languages(model: ModelView) -> str:
    """Gives every language that a model reads, by name."""
    return words.listed(sorted(LANGUAGES.get(code, code) for code in model.languages))


def purpose(model: ModelView) -> str:
    """Gives in a sentence what a model is for."""
    if model.kind == SECOND:
        return "Reads your question together with each of the first hits and puts the best ones first."
    if len(model.languages) > 1:
        return f"Finds passages by their meaning, in {languages(model)}: ask in one language, find in another."
    read = f" in {languages(model)}" if model.languages else ""
    tuned = f" It was tuned from {model.base} on your own judgements." if model.base else ""
    return f"Finds passages by their meaning{read}.{tuned}"


def origin(model: ModelView, *, in_use: bool) -> str:
    """Gives the line below a model's name: whether it is in use, and where it came from."""
    came = "Tuned" if model.base else "Added"
    came = "Comes with the program" if model.bundled else f"{came} {words.day(model.added)}".strip() \
        if model.added else f"{came} by you"
    return f"In use. {came}" if in_use else came


def kind(model: ModelView) -> str:
    """Gives what a model does, for the table."""
    return "Second look" if model.kind == SECOND else "Search"


def kind_tip(model: ModelView) -> str:
    """Gives the same in the field's terms."""
    tuned = f", tuned from {model.base}" if model.base else ""
    return f"{'Cross-encoder' if model.kind == SECOND else 'Sentence encoder'}{tuned}"


def licence(model: ModelView) -> str:
    """Gives a model's licence by its usual name."""
    return _LICENCES.get(model.licence.lower(), model.licence) if model.licence else "not stated"


def pooling(name: str) -> str:
    """Gives a pooling, or several that are joined."""
    return " and ".join(_POOLINGS.get(part, part) for part in name.split("+")).capitalize() if name else ""


def prompts(model: ModelView) -> str:
    """Gives what is put before texts."""
    said = {"query": "question", "document": "passage"}
    return "; ".join(f"“{text.strip()}” before a {said.get(task, task)}" for task, text in model.prompts) or "None"


def tokens(model: ModelView) -> str:
    """Gives how much of a passage is read."""
    if not model.max_tokens:
        return "not known"
    return f"{words.count(model.max_tokens)}, about {words.count(round(model.max_tokens * 0.75 / 10) * 10)} words"


def refused_word(model: ModelView) -> str:
    """Gives why a model is not used, as a tag."""
    return "Files changed" if model.sha256 or not model.note else "Not usable"


def unread(rows: tuple[UnreadLanguage, ...], model: ModelView) -> str:
    """Gives the notice about documents that the model in use reads badly; "" when there are none."""
    if not rows:
        return ""
    known = f" was made for {languages(model)}" if model.languages else " was not made for that"
    many = sum(row.documents for row in rows)
    head = f"{words.counted(many, 'document')} of yours {'is' if many == 1 else 'are'} in"
    tail = f"It{known}, so their meaning is found badly."
    if len(rows) == 1:
        return f"{head} {rows[0].name}, which {model.name} does not know. {tail}"
    parts = [f"{words.count(row.documents)} in {row.name}" for row in rows[:4]]
    rest = sum(row.documents for row in rows[4:])
    if rest:
        parts.append(f"{words.count(rest)} in others")
    return f"{head} languages that {model.name} does not know: {words.listed(parts)}. {tail}"


def space_state(space: SpaceView) -> tuple[str, str]:
    """Gives word and tone of a space's tag."""
    if space.state == "in use":
        return "In use", "good"
    if space.state == "building":
        return f"Preparing {percent(space)} %", "accent"
    if space.state == "words only":
        return "Words only", "neutral"
    return ("Kept" if space.passages >= space.of else f"Unfinished, {percent(space)} %"), "neutral"


def is_whole(space: SpaceView) -> bool:
    """True for one that can serve at once; what came after it was kept is added then."""
    return space.passages >= 0.9 * space.of


def percent(space: SpaceView) -> int:
    """Gives how far a space is, 0 to 99 while it is built."""
    return min(99, 100 * space.passages // space.of) if space.of else 0


# ---- the lab


def metric(name: str) -> str:
    """Gives a metric in words; its own name where there are none."""
    return _METRICS.get(name.lower().replace("_", " "), _METRICS.get(name.lower(), name))


def quality(value: float | None, name: str) -> str:
    """Gives a quality as it is shown: of 100, correlations as they are."""
    if value is None:
        return "not measured"
    return f"{value:.2f}" if is_correlation(name) else f"{100 * value:.0f}"


def is_correlation(name: str) -> bool:
    """True for a metric that lies between -1 and 1."""
    return name.lower() in ("spearman", "pearson")


def plain(row: LabRow) -> bool:
    """True for a model measured as it is."""
    return row.way in ("", "as it is")


def way(name: str) -> str:
    """Gives a way to use a model in words: ``cls``, ``pca 128``, ``int8``."""
    if name in ("", "as it is"):
        return "As it is"
    if name == "pooling":
        return "Other ways to pool"
    plain = name.lower()
    if plain in _POOLINGS:
        return _POOLINGS[plain]
    parts = plain.replace("-", " ").replace(":", " ").split()
    figure = next((part for part in parts if part.isdigit()), "")
    if figure and parts[0] == "pca":
        return f"{figure} dimensions, by PCA"
    if figure and parts[0] in ("matryoshka", "cut", "first", "dimension", "dimensions", "truncate"):
        return f"First {figure} dimensions"
    return "8-bit numbers (int8)" if plain == "int8" else name


def when(made: float, now: float | None = None) -> str:
    """Gives when something was measured: today, yesterday, or its date; "" for a moment not known."""
    if not made:
        return ""
    now = time.time() if now is None else now
    if now - made < 90 * 60:
        return words.ago(made, now)
    today, then = time.localtime(now), time.localtime(made)
    if (today.tm_year, today.tm_yday) == (then.tm_year, then.tm_yday):
        return "today"
    before = time.localtime(now - 86_400)
    return "yesterday" if (before.tm_year, before.tm_yday) == (then.tm_year, then.tm_yday) else words.day(made)


def measured_on(view: LabView) -> str:
    """Gives what the lab's figures were measured on, and when."""
    known = any(row.quality is not None for row in view.rows)
    said = f"Measured on {view.data}" if view.data and known else "Speed and size, measured on this computer"
    return ", ".join(part for part in (said, when(view.made)) if part)


def row_words(row: LabRow) -> str:
    """Gives one row of the lab as a sentence, for what is painted."""
    parts = [row.model if plain(row) else f"{row.model}, {way(row.way)}"]
    if row.quality is not None:
        between = f", surely between {quality(row.low, row.metric)} and {quality(row.high, row.metric)}" \
            if row.low is not None and row.high is not None else ""
        parts.append(f"{metric(row.metric)}: {quality(row.quality, row.metric)}{between}")
    if row.speed is not None:
        parts.append(f"{words.count(round(row.speed))} passages a second")
    if row.mean_cosine is not None:
        parts.append(f"Random pairs {row.mean_cosine:.2f} alike")
    if row.note:
        parts.append(row.note.removesuffix("."))
    return ". ".join(parts)


def change(row: LabRow) -> str:
    """Gives what a way costs against the model as it is; "" for that one, and where it is not known."""
    if row.change is None:
        return ""
    correlation = is_correlation(row.metric)
    figure = f"{abs(row.change):.3f}" if correlation else f"{100 * abs(row.change):.1f}"
    low, high = row.change_low, row.change_high
    if not float(figure):
        return "The same as it is"
    words_ = f"{figure} {'better' if row.change > 0 else 'worse'} than as it is"
    return f"{words_}, perhaps by chance" if low is not None and high is not None and low <= 0 <= high else words_
