"""Words that name no theme, by language. Our own lists; what they lack, the significance measure mostly catches."""

from __future__ import annotations

_EN = """
a about above after again against ago all almost along already also although always am among an and another any anyone
anything are aren around as at away back be became because become been before began behind being below best better
between both but by came can cannot could couldn day days did didn do does doesn doing don done down during each
either else end enough etc even ever every everyone everything far few first for four from full further gave get gets
getting give given go goes going gone good got great had hadn has hasn have haven having he hence her here hers
herself him himself his how however i if in indeed instead into is isn it its itself just keep kind knew know known
last late later least less let like likely little ll long look looking lot lots made mainly make makes making man many
may maybe me means might mine more most mostly mr mrs ms much must mustn my myself near nearly need never new next no
nobody none nor not nothing now of off often oh on once one ones only onto or other others our ours ourselves out over
own part per perhaps please put quite rather re really s said same saw say saying says second see seem seemed seems
seen several shall she should shouldn show since so some someone something soon still such sure t take taken tell than
that the their theirs them themselves then there therefore these they thing things think third this those though three
through thus time to today together told too took toward towards tried try two under until up upon us use used using
usually ve very want wants was wasn way we week well went were weren what whatever when where whether which while who
whole whom whose why will with within without won would wouldn year years yes yet you your yours yourself pm able
people added set come comes number small big high low early left right place despite following according include
includes including month months across
"""
_DE = """
ab aber alle allein allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus bald
bei beim beide beiden bereits bin bis bist bitte da dabei dadurch dafür dagegen daher damit danach dann daran darauf
daraus darf darin darüber darum das dass dazu dein deine dem den denen denn dennoch der deren des deshalb dessen dich
die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige einigen
einmal er erst erste ersten es etwa etwas euch euer eure fast für gar gegen geht gemacht gibt ging gut haben habe hab
hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins ist ja jede jedem
jeden jeder jedes jedoch jetzt kam kann kannst kaum kein keine keinem keinen keiner können könnte konnte lassen man
mehr mehrere mein meine meinem meinen meiner meist mich mir mit möchte muss müssen musste nach nachdem neben nein neu
neue neuen nicht nichts nie noch nun nur ob obwohl oder oft ohne schon sehr sei seid sein seine seinem seinen seiner
seit sich sie sind so sobald sogar solche soll sollen sollte sondern sonst sowie statt trotz über um und uns unser
unsere unter viel viele vielen vom von vor wann war waren warum was weil weiter welche welchem welchen welcher welches
wenn wer werde werden wie wieder will wir wird wirst wo wollen wollte worden wurde wurden würde würden zu zum zur zwar
zwei zwischen jahr jahre jahren tag heute uhr
"""
_FR = """
a afin ai ainsi alors après as au aucun aucune aujourd aura aussi autre autres aux avaient avait avant avec avez avoir
avons beaucoup bien c ce cela celle celles celui ces cet cette ceux chaque chez comme comment contre d dans de depuis
dernier dernière des dessous dessus deux devant doit donc dont du elle elles en encore entre est et étaient était été
être eu eux fait faire fois font hors il ils j je jusqu l la là laquelle le lequel les leur leurs lors lui m ma mais
me même mêmes mes mieux moi moins mon n ne ni non nos notre nous nouveau on ont or ou où par parce pas pendant peu
peut peuvent plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se selon sera
ses seulement si sien son sont sous soit sur t ta tandis te tes toi ton toujours tous tout toute toutes très trop tu
un une vers voici voilà vos votre vous y an ans jour jours premier première
"""
_ES = """
a al algo alguna algunas alguno algunos ante antes aquel aquella aquellos así aún aunque bajo bien cada casi como con
contra cual cuales cuando cuanto da de debe del desde después dice donde dos durante e el él ella ellas ellos en entre
era eran es esa esas ese eso esos esta está están estas este esto estos fue fueron ha había han hace hacer hacia hasta
hay he incluso la las le les lo los luego más me menos mi mientras mis misma mismo mucha mucho muchos muy nada ni no
nos nosotros nuestra nuestro nunca o otra otras otro otros para parece pero poco por porque pues puede pueden que qué
quien quién se sea según ser si sí sido sin sino sobre solo sólo son su sus también tan tanto te tener tiene tienen
toda todas todavía todo todos tras tu tus un una unas uno unos usted va vez y ya yo año años día días
"""
_IT = """
a ad ai al alla alle allo anche ancora avere aveva avevano bene c che chi ci ciò come con contro cosa così cui d da
dai dal dalla dalle dallo degli dei del della delle dello deve di dopo dove due e ed era erano essere fa fare fino fra
fu furono gli ha hanno ho i il in io l la le lei li lo loro lui ma me meno mentre mi mia mio molti molto ne negli nei
nel nella nelle nello nessun niente no noi non nostra nostro o ogni oggi oltre ora per perché però più poi prima
proprio può qual quale quali quando quanto quella quelle quelli quello questa queste questi questo qui se sei sempre
senza si sia siamo sono sopra sotto sta stata stati stato su sua sue sugli sui sul sulla sulle suo suoi tra tu tua tuo
tutti tutto un una uno vi voi volta anno anni giorno
"""
_PT = """
a à ainda além algum alguma alguns antes ao aos após aquela aquele as às assim até cada com como contra da das de dela
dele depois desde deve do dois dos durante e é ela elas ele eles em entre era eram essa esse esta está estão este eu
foi foram fora há isso isto já la lhe lo logo mais mas me menos mesmo meu minha muito na não nas nem nenhum no nos nós
nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos pode podem por porque pouco
qual quando que quem se sem sempre ser seu seus si sido só sob sobre sua suas também te tem têm tinha toda todas todo
todos três tu um uma umas uns vez você ano anos dia
"""
_NL = """
aan af al alle alleen als altijd andere ben bij daar dan dat de deze die dit doch doen door dus een eens en er ga geen
geweest haar had hebben heb heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men
met mij mijn moet na naar niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot tussen
uit uw van veel voor want waren was wat we wel werd werden wezen wie wij wil worden wordt zal ze zeer zei zelf zich
zij zijn zo zonder zou zullen jaar dag
"""
_RU = """
а без более больше будет будто бы был была были было быть в вам вас весь во вот все всего всех всю вы где да даже два
для до его ее её если есть еще ещё же за здесь и из или им их к как какой когда который которые кто ли лишь между меня
мне много может можно мой мы на над надо нас не него нее ней нет ни них но ну о об один он она они оно от по под после
потом потому при про раз с сам свой себя со так также такой там те тем то того тоже только том тот ты у уже хотя чего
чем что чтобы эта эти это этого этой этом этот я год года лет
"""
_ZH = """
的 了 是 在 和 有 我 他 她 它 们 这 那 不 也 就 都 而 及 与 或 一 个 上 下 中 为 以 于 到 说 要 会
可 你 着 没 很 被 把 从 对 将 之 其 并 但 等 来 去 又 还 让 给 向 年 月 日 时
"""
_JA = """
の に は を た が で て と し れ さ ある いる も する から な こと として い や など なっ ない この
ため その あっ よう また もの という あり まで られ なる へ か だ これ によって により おり より
による ず なり られる です ます でし まし
"""

_LISTS = {"en": _EN, "de": _DE, "fr": _FR, "es": _ES, "it": _IT, "pt": _PT, "nl": _NL, "ru": _RU, "zh": _ZH, "ja": _JA}
LANGUAGES = tuple(_LISTS)
_made: dict[str, frozenset[str]] = {}


def stop_words(language: str) -> frozenset[str]:
    """Gives the stop words of a language ("de", "de-AT"), those of English with it; of all where it is unknown."""
    code = language.lower().replace("_", "-").split("-")[0]
    key = code if code in _LISTS else ""
    if key not in _made:
        chosen = {key, "en"} if key else set(_LISTS)
        _made[key] = frozenset(word for code in sorted(chosen) for word in _LISTS[code].split())
    return _made[key]
