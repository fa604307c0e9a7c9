"""Words that carry no topic: a question asked in a sentence is full of them.

They stay in the table (a phrase needs them); a query leaves them out unless it consists of nothing else.
"""

from __future__ import annotations

from functools import lru_cache

_LISTS = {
    "en": (
        "a about am an and any are as at be been but by can could did do does for from had has have he her him "
        "his how i if in into is it its me my no nor not of on or our ours she should so some such than that the "
        "their them then there these they this those to too us was we were what when where which who whom why "
        "will with would you your yours"
    ),
    "de": (
        "aber als am an auch auf aus bei bin bis bist da das dass dein dem den der des die dies diese dieser "
        "dieses doch du ein eine einem einen einer eines er es für hat habe haben hatte ich ihr ihre im in ist ja "
        "kann kein keine mein meine mich mir mit nach nicht noch nun nur ob oder sein seine sich sie sind so über "
        "um und uns unser von vor wann war was wenn wer wie wir wird wo zu zum zur"
    ),
    "fr": (
        "à au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui ma mais me mes "
        "moi mon ne nos notre nous on ou où par pas pour qu quand que qui quoi sa se ses si son sont sur ta te "
        "tes tu un une vos votre vous"
    ),
    "es": (
        "a al como con cuando de del donde el ella ellos en es esta este esto la las le les lo los me mi mis muy "
        "no nos o para pero por que qué quien se si sin su sus te tu un una unos y ya yo"
    ),
    "it": (
        "a ai al alla che chi ci come con da dal dei del della delle di dove e è gli ha ho i il in io la le lo ma "
        "mi mia mio ne nel nella non o per perché quando se si sono su sua suo tra un una"
    ),
    "pt": (
        "a ao aos as com como da das de do dos e é ela ele em eu foi la me meu minha na não nas no nos o os ou "
        "para pela pelo por quando que quem se sem seu sua um uma"
    ),
    "nl": (
        "aan al als bij dan dat de deze die dit een en er haar heb heeft het hij hoe ik in is je kan maar me met "
        "mij mijn na naar niet nog nu of om onze op over te tot uit van voor waar wanneer was wat we wie wij zijn "
        "zo"
    ),
}


@lru_cache(maxsize=16)
def function_words(languages: tuple[str, ...]) -> frozenset[str]:
    """Gives the folded function words of the languages that have a list here."""
    from sbert_desktop.library._analysis import fold  # at run time: it imports this module

    return frozenset(fold(word) for language in languages for word in _LISTS.get(language, "").split())
