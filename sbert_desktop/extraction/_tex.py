r"""LaTeX: sections as headings, environments opened, commands taken away and their words kept.

One pass over the tokens without a stack of Python calls; a command that is not known gives the text
of its braces, because most commands that people define themselves only dress words up.
"""

from __future__ import annotations

import re
import unicodedata

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, one_line, without_spans
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_COMMENT_LINE = re.compile(r"^[ \t]*%.*\n", re.MULTILINE)
_UNSEEN = ((re.compile(r"\\begin\{comment\}"), re.compile(r"\\end\{comment\}")),
           (re.compile(r"\\iffalse\b"), re.compile(r"\\fi\b")))
_BEGIN_DOCUMENT = re.compile(r"\\begin\s*\{document\}")
_END_DOCUMENT = re.compile(r"\\end\s*\{document\}")
_PREAMBLE = re.compile(r"\\(title|author|date)\s*(?:\[[^\]]{0,500}\])?\s*\{")
_BEGIN_VERBATIM = re.compile(r"\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|alltt)\}(?:\[[^\]\n]{0,500}\])?"
                             r"(?:\{\w{1,40}\})?")
_TOKEN = re.compile(r"\\([A-Za-z@]+\*?)[ \t]*\n?[ \t]*|\\([^A-Za-z@])|(\n[ \t]*\n\s*)|([{}~&$])|(---?)|(``|'')|(\n)|"
                    r"[^\\{}~&$\n`'-]+|.", re.DOTALL)
_OPTION = re.compile(r"\s{0,10}\[[^\[\]]{0,1000}\]")
_SECTIONS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6,
             "subparagraph": 7, "frametitle": 5, "framesubtitle": 6}
# How many braces after a command hold no words that are read.
_DROPPED = {**dict.fromkeys((
    "label", "ref", "eqref", "pageref", "autoref", "cref", "Cref", "nameref", "vref", "cite", "citep", "citet",
    "citealp", "citealt", "citeauthor", "citeyear", "parencite", "textcite", "footcite", "autocite", "nocite",
    "bibliography", "bibliographystyle", "usepackage", "RequirePackage", "documentclass", "documentstyle", "input",
    "include", "includegraphics", "includepdf", "vspace", "hspace", "vskip", "hskip", "pagestyle", "thispagestyle",
    "pagenumbering", "graphicspath", "hypersetup", "geometry", "lstset", "tikzset", "usetikzlibrary", "color",
    "pagecolor", "index", "phantom", "hphantom", "vphantom", "selectlanguage", "inputencoding", "hyphenation",
    "addbibresource", "theoremstyle", "cline", "cmidrule", "usetheme", "usecolortheme", "bibitem", "pgfplotsset",
    "captionsetup", "fontsize", "linespread", "stepcounter", "refstepcounter", "lstinputlisting", "arraystretch",
    "includeonly", "externaldocument", "columnbreak", "rowcolor", "columncolor", "cellcolor", "linebreak"), 1),
    **dict.fromkeys(("setlength", "addtolength", "setcounter", "addtocounter", "newcommand", "renewcommand",
                     "providecommand", "newtheorem", "definecolor", "DeclareMathOperator", "def", "numberwithin",
                     "rule", "addcontentsline", "titleformat", "newenvironment", "renewenvironment"), 2),
    "href": 1, "textcolor": 1, "colorbox": 1, "parbox": 1, "raisebox": 1, "resizebox": 2, "scalebox": 1,
    "multicolumn": 2, "multirow": 2, "adjustbox": 1, "fcolorbox": 2, "foreignlanguage": 1, "hyperref": 0,
    "rotatebox": 1, "makebox": 0, "framebox": 0}
_TWO_MORE = {"newenvironment": 3, "renewenvironment": 3}
_BEGIN_ARGUMENTS = {"tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "array": 1,
                    "minipage": 1, "multicols": 1, "thebibliography": 1, "wrapfigure": 2, "wraptable": 2,
                    "subfigure": 1, "adjustbox": 1, "column": 1, "xltabular": 2, "tblr": 1, "spacing": 1, "list": 2}
_TABLES = {"tabular", "tabular*", "tabularx", "tabulary", "longtable", "xltabular", "tblr"}
_DRAWINGS = ("tikzpicture", "pspicture", "picture", "axis", "forest")
_WORDS = {"LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "ldots": "…", "dots": "…", "textellipsis": "…",
          "textendash": "–", "textemdash": "—", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø",
          "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ",
          "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "S": "§", "P": "¶", "copyright": "©", "pounds": "£", "euro": "€",
          "texteuro": "€", "EUR": "€", "textdegree": "°", "degree": "°", "textbackslash": "\\", "textbar": "|",
          "textless": "<", "textgreater": ">", "textasciitilde": "~", "textasciicircum": "^", "textbullet": "•",
          "quad": " ", "qquad": " ", "newline": "\n", "linebreak": "\n", "par": "\n\n", "guillemotleft": "«",
          "guillemotright": "»", "glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»", "textquotedblleft": "“",
          "textquotedblright": "”", "quotedblbase": "„", "times": "×", "cdot": "·", "pm": "±", "leq": "≤", "geq": "≥",
          "le": "≤", "ge": "≥", "neq": "≠", "approx": "≈", "infty": "∞", "to": "→", "rightarrow": "→", "in": "∈",
          "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ",
          "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π",
          "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
          "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ",
          "Omega": "Ω", "sum": "∑", "int": "∫", "partial": "∂", "nabla": "∇", "item": "\n- ", "and": ", "}
_ACCENTS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
            '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
            "b": "\u0331"}
_LONGEST_ARGUMENT = 5000


def read(source: Source) -> ExtractedText:
    """Reads LaTeX.

    Raises:
        ExtractionError: ``empty``.
    """
    out = TextBuilder("tex")
    write_tex(normalise(decode_text(source.data)), out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def write_tex(text: str, out: TextBuilder) -> None:
    """Adds the blocks of normalised LaTeX; sets title and date where the preamble has them."""
    begin = _BEGIN_DOCUMENT.search(text)
    preamble, body = (text[: begin.start()], text[begin.end() :]) if begin else ("", text)
    end = _END_DOCUMENT.search(body)
    body = body[: end.start()] if end else body
    _write_preamble(_uncommented(preamble), out)
    reader = _Reader(out)
    at = 0
    while found := _BEGIN_VERBATIM.search(body, at):  # comments and commands mean nothing inside these
        reader.run(_uncommented(body[at : found.start()]))
        closing = body.find(f"\\end{{{found[1]}}}", found.end())
        stop = closing if closing >= 0 else len(body)
        out.add_code(body[found.end() : stop], out.heading)
        at = stop + len(found[1]) + 6
    tail = _uncommented(body[at:])
    if not preamble:
        _write_preamble(tail[:20_000], out)
    reader.run(tail)
    out.title = out.title or reader.first_heading


def _uncommented(text: str) -> str:
    text = _COMMENT_LINE.sub("", text)
    if "%" in text:
        text = _COMMENT.sub(r"\1", text)
    for begin, end in _UNSEEN:
        text = without_spans(text, begin, end)
    return text


def _write_preamble(text: str, out: TextBuilder) -> None:
    held: list[str] = []
    for match in list(_PREAMBLE.finditer(text))[:20]:
        stop = _closing(text, match.end() - 1)
        if stop < 0:
            continue
        part = TextBuilder("tex")
        _Reader(part).run(text[match.end() : stop])
        value = one_line(part.finish().text)
        if match[1] == "title" and not out.title:
            out.title = value
        elif match[1] == "date" and out.date is None:
            out.date = parse_date(value)
        elif match[1] == "author":
            out.metadata.append(("author", value))
        held.append(value)
    out.add("\n".join(held), BlockKind.HEADER)


def _closing(text: str, opened: int) -> int:
    """Gives where the brace that opens at ``opened`` closes, -1 if that is far away or nowhere."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, opened, opened + _LONGEST_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return -1


class _Reader:
    """Turns tokens into text; a section's title and a table gather until they end."""

    def __init__(self, out: TextBuilder) -> None:
        self.out = out
        self.first_heading = ""
        self.held: list[str] = []
        self.table = 0
        self.unclosed = 0

    def _closes(self, text: str, opened: int) -> int:
        """As :func:`_closing`, but gives up on a document with hundreds of braces that never close."""
        stop = _closing(text, opened) if self.unclosed < 300 else -1
        self.unclosed += stop < 0
        return stop

    def run(self, text: str) -> None:
        """Reads a stretch of LaTeX to its end."""
        at = 0
        while at < len(text) and not self.out.full:
            match = _TOKEN.match(text, at)
            if match is None:
                break
            at = match.end()
            command, sign, blank, special, dash, quote, line = match.groups()
            if command:
                at = self._command(command, text, at)
            elif sign is not None:
                at = self._sign(sign, text, at)
            elif blank is not None:
                if self.table:
                    self.held.append(" ")
                else:
                    self._flush()
            elif special:
                self.held.append({"~": " ", "&": "\t" if self.table else " & "}.get(special, ""))
            elif dash:
                self.held.append("—" if len(dash) == 3 else "–")
            elif quote:
                self.held.append("“" if quote == "``" else "”")
            elif line:
                self.held.append(" " if self.table else "\n")
            else:
                self.held.append(match[0])
        self._flush()

    def _sign(self, sign: str, text: str, at: int) -> int:
        """Reads a command of one sign: a line break, an accent, a sign of its own."""
        if sign == "\\":
            option = _OPTION.match(text, at)
            self.held.append("\n")
            return option.end() if option and option.end() - at < 30 else at
        if sign in _ACCENTS:
            return self._accent(sign, text, at)
        if sign in "[]" and not self.table:
            self._flush()
        else:
            self.held.append({",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", "(": "", ")": "",
                              "\n": " ", "[": " ", "]": " "}.get(sign, sign))
        return at

    def _accent(self, sign: str, text: str, at: int) -> int:
        match = re.compile(r"\s{0,3}(?:\{\s*(?:\\([ij])\b\s*|(\w?))\s*\}|\\([ij])(?![A-Za-z])\s?|(\w))").match(text, at)
        if match is None:
            return at
        letter = next((part for part in match.groups() if part), "")
        self.held.append(unicodedata.normalize("NFC", letter + _ACCENTS[sign]) if letter else "")
        return match.end()

    def _command(self, name: str, text: str, at: int) -> int:
        bare = name.rstrip("*")
        if bare == "begin" or bare == "end":
            return self._environment(bare, text, at)
        if bare in _SECTIONS:
            return self._section(bare, text, at)
        if bare == "verb" or bare == "lstinline":
            return self._verb(text, at)
        if len(bare) == 1 and bare in _ACCENTS and text[at : at + 1] == "{":
            return self._accent(bare, text, at)
        if bare in _WORDS and not (bare in {"item", "and"} and self.table):
            self.held.append(_WORDS[bare])
            if bare == "item":
                option = _OPTION.match(text, at)
                if option:
                    self.held.append(option[0].strip()[1:-1] + " ")
                    return option.end()
            if text[at : at + 2] == "{}":
                return at + 2
            if text[at - 1 : at] in " \t\n" and text[at : at + 1].isalnum() and bare not in {"item", "par"} \
                    and len(_WORDS[bare]) > 1:
                self.held.append(" ")
            return at
        if bare == "caption" or bare == "footnote":
            self.held.append(" ")
        count = _TWO_MORE.get(bare, _DROPPED.get(bare, -1))
        option = _OPTION.match(text, at)
        while option:
            at = option.end()
            option = _OPTION.match(text, at)
        if count < 0 and text[at : at + 1] != "{" and self.held and not self.held[-1].isspace():
            self.held.append("" if self.held[-1].endswith(" ") else " ")
        for _ in range(max(0, count)):
            at = self._behind_argument(text, at)
        return at

    def _behind_argument(self, text: str, at: int) -> int:
        while True:
            option = _OPTION.match(text, at)
            if not option:
                break
            at = option.end()
        opened = re.compile(r"\s{0,20}\{").match(text, at)
        if not opened:
            macro = re.compile(r"\s{0,3}\\[A-Za-z@]+").match(text, at)  # \newcommand\name{...}
            return macro.end() if macro else at
        stop = self._closes(text, opened.end() - 1)
        return stop + 1 if stop >= 0 else opened.end()

    def _verb(self, text: str, at: int) -> int:
        option = _OPTION.match(text, at)
        at = option.end() if option else at
        mark = text[at : at + 1]
        stop = text.find("}" if mark == "{" else mark, at + 1, at + 500) if mark else -1
        if stop < 0:
            return at
        self.held.append(text[at + 1 : stop])
        return stop + 1

    def _section(self, name: str, text: str, at: int) -> int:
        option = _OPTION.match(text, at)
        at = option.end() if option else at
        opened = re.compile(r"\s{0,20}\{").match(text, at)
        stop = self._closes(text, opened.end() - 1) if opened else -1
        if opened is None or stop < 0:
            return at
        self._flush()
        part = TextBuilder("tex")
        _Reader(part).run(text[opened.end() : stop])
        heading = one_line(part.finish().text)
        self.first_heading = self.first_heading or heading
        self.out.add_heading(heading, _SECTIONS[name])
        return stop + 1

    def _environment(self, kind: str, text: str, at: int) -> int:
        match = re.compile(r"\s{0,5}\{([A-Za-z@]{1,40}\*?)\}").match(text, at)
        if match is None:
            return at
        name, at = match[1], match.end()
        if name in _DRAWINGS and kind == "begin":
            stop = text.find(f"\\end{{{name}}}", at)
            return stop if stop >= 0 else at
        if name in _TABLES:
            if kind == "begin":
                if not self.table:
                    self._flush()
                self.table += 1
            elif self.table:
                self.table -= 1
                if not self.table:
                    self._flush_table()
        elif not self.table and name not in {"math", "displaymath"}:
            self._flush()
        if kind == "begin":
            option = _OPTION.match(text, at)
            if option and name not in {"figure", "table", "figure*", "table*", "enumerate", "itemize", "description"}:
                self.held.append(option[0].strip()[1:-1] + "\n" if name in {"theorem", "lemma", "definition", "proof",
                                                                            "block", "frame", "quote"} else "")
            at = option.end() if option else at
            for _ in range(_BEGIN_ARGUMENTS.get(name, 0)):
                at = self._behind_argument(text, at)
        return at

    def _flush(self) -> None:
        if self.table:  # a document that ends inside a table
            self.table = 0
            self._flush_table()
            return
        text = "".join(self.held)
        self.held.clear()
        lines = [" ".join(line.split()) for line in text.split("\n")]
        self.out.add("\n".join(line for line in lines if line and line != "-"))

    def _flush_table(self) -> None:
        rows = [[" ".join(cell.split()) for cell in row.split("\t")] for row in "".join(self.held).split("\n")]
        self.held.clear()
        self.out.add("\n".join("\t".join(row).strip("\t") for row in rows if any(row)), BlockKind.TABLE)
