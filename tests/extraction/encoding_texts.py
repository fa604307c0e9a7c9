"""Paragraphs in many languages, written for these tests, with the encodings that each was stored in."""

# ruff: noqa: E501
from __future__ import annotations

TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "de": ("Die Gärtnerin stellte die Körbe vor die Tür und zählte die Äpfel. Natürlich fehlten wieder fünf Stück, "
           "denn die Nachbarskinder hatten über Nacht größeren Hunger gehabt. Sie lächelte, öffnete das Fenster und "
           "ließ die kühle Luft herein, während draußen die ersten Züge vorüberfuhren.",
           ("cp1252", "iso8859_15", "mac_roman", "cp850", "cp437")),
    "fr": ("Le boulanger a préféré fermer sa boutique à midi, car la chaleur était déjà très forte. Après le déjeuner, "
           "il s'est assis près de la fenêtre où son père lisait un vieux journal français. Ça sentait le pain grillé "
           "et la forêt mouillée après l'été.", ("cp1252", "iso8859_15", "mac_roman", "cp850")),
    "es": ("La niña pequeña soñaba con una montaña cubierta de árboles y pájaros. ¿Quién vivía allí? Según su abuelo, "
           "un señor que nunca había visto el océano. Mañana cogerán el tren y por fin sabrán la respuesta; será un día "
           "lleno de emoción.", ("cp1252", "mac_roman", "cp850")),
    "pt": ("A avó não sabia onde estavam as chaves do portão, então pediu ajuda ao irmão. Eles procuraram atrás do "
           "fogão, na estação e até no coração da praça, mas só à noite alguém as encontrou debaixo do colchão.",
           ("cp1252", "mac_roman", "cp850")),
    "it": ("La città era già sveglia quando il postino salì le scale. Perché nessuno rispondeva? Lasciò il pacco sulla "
           "soglia, così la signora lo avrebbe trovato più tardi; poi tornò giù e bevve un caffè con la metà dei suoi "
           "amici.", ("cp1252", "mac_roman", "cp850")),
    "sv": ("Flickan gick över ängen för att hämta mjölk från gården på andra sidan sjön. När hon kom fram började det "
           "åska, så hon väntade på trappan tills ovädret hade dragit förbi och fåglarna åter sjöng.",
           ("cp1252", "mac_roman", "cp850")),
    "da": ("Færgen sejlede først om aftenen, så vi købte brød og spiste på molen. En gammel sømand fortalte, at øen "
           "længere ude blev forladt for år tilbage, fordi ingen længere turde bo så tæt på havet.",
           ("cp1252", "cp850")),
    "pl": ("Dziewczynka zgubiła żółtą rękawiczkę w drodze do szkoły, więc wróciła pod most i szukała jej wśród liści. "
           "Znalazł ją dopiero stróż, który właśnie zamykał bramę. Powiedział, że jeszcze dziś zaniesie ją matce, bo "
           "wieczór będzie mroźny.", ("cp1250", "iso8859_2", "cp852")),
    "cs": ("Když přišla zima, zahradník přikryl růže větvemi a zavřel skleník. Na dvoře zůstal jen starý kůň, který se "
           "díval, jak padá sníh. Večer přinesl chlapec čerstvé mléko a řekl, že řeka už zamrzla až k mostu.",
           ("cp1250", "iso8859_2", "cp852")),
    "hu": ("A kislány átment a hídon, hogy megkeresse az elveszett kutyáját. A fűzfák alatt egy öreg halász ült, és azt "
           "mondta, hogy a kutya erre futott, a malom felé. Később együtt ették a meleg kenyeret, és nézték, ahogy a "
           "hűvös szél felhőket kerget az égen.", ("cp1250", "iso8859_2", "cp852")),
    "ro": ("Bătrânul și-a așezat scaunul în fața casei și a privit cum copiii se întorc de la școală. În fiecare zi "
           "aceeași fetiță îi aducea o floare, iar el îi povestea despre munții în care a crescut și despre iernile "
           "lungi.", ("iso8859_16",)),
    "tr": ("Küçük kız sabah erkenden kalktı, pencereyi açtı ve kuşların şarkısını dinledi. Annesi çoktan çayı koymuş, "
           "ekmeği dilimlemişti. Bugün dağdaki köye gidecekler, büyükannesinin doğum gününü kutlayacaklardı; yağmur "
           "yağmazsa güneşin batışını göreceklerdi.", ("cp1254", "iso8859_9", "cp857")),
    "lt": ("Mergaitė nuėjo prie ežero, kur žvejai ruošė tinklus. Vėjas buvo šaltas, bet saulė jau šildė žemę, ir visi "
           "džiaugėsi, kad žiema pagaliau baigėsi. Vakare močiutė iškepė duonos ir papasakojo seną pasaką apie žaltį.",
           ("cp1257", "iso8859_13")),
    "lv": ("Vecais zvejnieks katru rītu gāja uz jūru un skatījās, kā kuģi pazūd aiz apvāršņa. Viņa mazmeita lasīja "
           "čiekurus un jautāja, kāpēc ūdens ir sāļš. Vakarā viņi kopā ēda siltu maizi un klausījās vējā.",
           ("cp1257", "iso8859_13")),
    "et": ("Vana kalur istus sillal ja parandas võrke, kui tüdruk küsis temalt teed mõisani. Ta näitas käega metsa poole "
           "ning ütles, et sõna pole vaja, sest jõgi viib su niikuinii kohale. Õhtul süttisid küla akendes küünlad.",
           ("cp1257",)),
    "ru": ("Девочка вышла во двор и увидела, что за ночь выпал снег. Сосед уже чистил дорожку и рассказывал, как в "
           "детстве катался на коньках по замёрзшей реке. К вечеру небо прояснилось, и над крышами поднялся тонкий "
           "месяц.", ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")),
    "uk": ("Дівчинка вийшла на подвір'я і побачила, що за ніч випав сніг. Сусід уже чистив стежку й розповідав, як у "
           "дитинстві їздив на ковзанах замерзлою річкою. Увечері небо прояснилося, і над дахами з'явився її "
           "улюблений місяць.", ("cp1251", "koi8_u")),
    "bg": ("Момичето излезе на двора и видя, че през нощта е паднал сняг. Съседът вече чистеше пътеката и разказваше "
           "как като дете се е пързалял по замръзналата река. Към вечерта небето се изясни и над покривите изгря "
           "тънък месец.", ("cp1251",)),
    "el": ("Το κορίτσι βγήκε στην αυλή και είδε ότι τη νύχτα είχε χιονίσει. Ο γείτονας καθάριζε ήδη το μονοπάτι και "
           "έλεγε πώς όταν ήταν παιδί έπαιζε πάνω στο παγωμένο ποτάμι. Το βράδυ ο ουρανός καθάρισε και βγήκε το "
           "φεγγάρι.", ("cp1253", "iso8859_7")),
    "he": ("הילדה יצאה לחצר וראתה שבלילה ירד שלג. השכן כבר ניקה את השביל וסיפר איך בילדותו החליק על הנהר הקפוא. לקראת "
           "ערב התבהרו השמיים ומעל הגגות עלה ירח דק.", ("cp1255", "iso8859_8")),
    "ar": ("خرجت الفتاة إلى الحديقة ورأت أن الثلج قد سقط أثناء الليل. كان الجار ينظف الطريق ويحكي كيف كان يلعب في صغره "
           "على النهر المتجمد. وفي المساء صفت السماء وظهر القمر فوق البيوت.", ("cp1256", "iso8859_6")),
    "th": ("เด็กหญิงเดินออกไปที่สวนและเห็นว่าเมื่อคืนฝนตกหนัก เพื่อนบ้านกำลังกวาดทางเดินและเล่าว่าตอนเป็นเด็กเขาชอบว่ายน้ำในแม่น้ำสายนี้ "
           "ตกเย็นท้องฟ้าแจ่มใสและพระจันทร์ขึ้นเหนือหลังคา", ("cp874",)),
    "vi": ("Cô bé bước ra sân và thấy đêm qua trời đã mưa rất to.", ("utf-8",)),
    "ja": ("少女が庭に出ると、夜のあいだに雪が積もっていました。隣の人はもう道を掃いていて、子どものころ凍った川で"
           "スケートをした話をしてくれました。夕方には空が晴れ、屋根の上に細い月が昇りました。",
           ("cp932", "euc_jp", "iso2022_jp")),
    "zh": ("小女孩走到院子里，看见夜里下了一场大雪。邻居已经在扫路了，他说起小时候在结冰的河上玩耍的事情。傍晚的时候天空放晴，"
           "屋顶上升起了一弯新月，大家都觉得明天会是个好天气。", ("gb18030", "gb2312")),
    "zh-hant": ("小女孩走到院子裡，看見夜裡下了一場大雪。鄰居已經在掃路了，他說起小時候在結冰的河上玩耍的事情。傍晚的時候天空放晴，"
                "屋頂上升起了一彎新月，大家都覺得明天會是個好天氣。", ("big5", "big5hkscs")),
    "ko": ("소녀가 마당으로 나가 보니 밤사이에 눈이 내려 있었습니다. 이웃 아저씨는 벌써 길을 쓸면서 어릴 때 얼어붙은 강에서 놀던 "
           "이야기를 들려주었습니다. 저녁이 되자 하늘이 맑아지고 지붕 위로 가느다란 달이 떠올랐습니다.",
           ("euc_kr", "cp949")),
}
EVERYWHERE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "gb18030")
"""What every text is stored in as well (gb18030 only where it is the language's own)."""
LENGTHS = (25, 60, 140, 1000)


def samples() -> list[tuple[str, str, str]]:
    """Gives (language, encoding, text) for every language, encoding and length."""
    found = []
    for language, (text, encodings) in TEXTS.items():
        for encoding in (*EVERYWHERE[:-1], *encodings):
            found += [(language, encoding, cut) for length in LENGTHS
                      if (cut := text[:length]) and (length == LENGTHS[0] or len(text) > length // 2)]
    return found
