"""How the columns of tables of labels are called: by us, and by those who made such tables elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sbert_desktop.training.labels import LabelKind

ROLES: dict[LabelKind, tuple[str, ...]] = {
    LabelKind.PAIRS: ("text_a", "text_b", "label"),
    LabelKind.POSITIVES: ("anchor", "positive"),
    LabelKind.GRADED: ("sentence1", "sentence2", "score"),
    LabelKind.TRIPLETS: ("anchor", "positive", "negative"),
    LabelKind.NLI: ("premise", "hypothesis", "label"),
    LabelKind.RELEVANCE: ("question", "passage", "relevant"),
}
"""The columns of each kind: the texts, then the value. An export has them, an import may map others onto them."""
DOCUMENTS = ("document_a", "document_b", "document_c")
"""The columns of the documents' sha256, which an export has behind the others."""

PAIRS_OF_TEXTS = (
    "text_a/text_b sentence1/sentence2 text1/text2 question1/question2 premise/hypothesis s1/s2 sentence_a/sentence_b"
    " sent1/sent2 first/second left/right string1/string2 1_string/2_string doc1/doc2 document1/document2"
    " passage1/passage2 title1/title2 phrase1/phrase2 a/b source/target original/paraphrase anchor/positive"
)
QUESTIONS = ("question", "query", "search", "anchor")
PASSAGES = ("passage", "answer", "document", "text", "context", "positive", "response", "paragraph", "sentence")
GRADES = ("score", "score05", "similarity", "relatedness15", "relatedness", "relatednessscore", "grade", "rating",
          "similarityscore", "goldscore", "label")  # fmt: skip
CLASSES = ("label", "isduplicate", "same", "duplicate", "class", "goldlabel", "quality", "paraphrase", "isparaphrase",
           "match", "relevant", "relevance", "entailmentjudgment", "entailment", "judgement", "judgment", "y",
           "target", "gold", "value")  # fmt: skip


def plain(name: str) -> str:
    """Gives a column's name without case, blanks and signs."""
    return re.sub(r"[\W_]+", "", name.lower())


_KNOWN = frozenset(
    plain(name)
    for name in (
        *PAIRS_OF_TEXTS.replace("/", " ").split(), *QUESTIONS, *PASSAGES, *GRADES, *CLASSES, *DOCUMENTS,
        "negative",
    )
)  # fmt: skip


def is_known(name: str) -> bool:
    """Says whether a column of this name means something here."""
    return plain(name) in _KNOWN


def listed(names: Sequence[str]) -> str:
    """Gives names as a person lists them; no more than twelve."""
    shown = [repr(name) if name else "one without a name" for name in names[:12]]
    if len(names) > 12:
        shown.append(f"{len(names) - 12} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
