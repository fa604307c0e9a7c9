"""Which words are numbers, days, months, times or amounts of money, in the languages most documents are in."""

from __future__ import annotations

_MONTHS = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
januar jänner februar feber märz mai juni juli oktober dezember mär okt dez
janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr juil déc
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott
janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev out
januari februari maart mei augustus
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
"""
_DAYS = """
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miércoles jueves viernes sábado domingo
lunedì martedì mercoledì giovedì venerdì sabato domenica
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""
_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion
null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig dreissig vierzig fünfzig sechzig
siebzig achtzig neunzig hundert tausend million millionen milliarden
deux trois quatre cinq sept huit neuf dix onze douze vingt trente quarante cinquante soixante cent mille
dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cuarenta cincuenta cien mil
due tre quattro cinque sei sette otto nove dieci venti trenta
first second third fourth fifth sixth seventh eighth ninth tenth 1st 2nd 3rd
"""
_OTHERS = """
am pm a.m p.m uhr h gmt utc cet cest est edt pst pdt st nd rd th
eur usd gbp chf jpy cny sek nok dkk pln czk huf inr cad aud nzd brl rub
euro euros dollar dollars pound pounds franken cent cents yen
% ‰ ° € $ £ ¥
一 二 三 四 五 六 七 八 九 十 百 千 万 億 亿 年 月 日 元 円 〇 零
"""
_ALL = frozenset(f"{_MONTHS} {_DAYS} {_NUMBERS} {_OTHERS}".split()) - {"h", "set", "out", "mag", "est", "once", "sei"}
"""Without those that are common words of their own."""


def is_number(word: str) -> bool:
    """Tells whether a folded word is a number, an id with digits, a day, a month, a time or an amount."""
    return word in _ALL or any(map(str.isdecimal, word))
