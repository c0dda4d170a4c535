"""The catalogues of texts: ``python -m tools.catalogue`` collects the texts anew and compiles what is translated.

A test compares; it fails where a text has no translation.
"""

from __future__ import annotations

import io
from datetime import datetime, timezone
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from perudo_env.engine.clauses import ENGLISH
from perudo_env.game.language import DOMAIN, LOCALE

PLURAL_FORMS = "nplurals=2; plural=(n > 1);"
PACKAGE = LOCALE.parent
LANGUAGE = "fr"
PO = LOCALE / LANGUAGE / "LC_MESSAGES" / f"{DOMAIN}.po"
METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
# beside Babel's own
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2), "N_": None}


def collected() -> Catalog:
    """All texts of the package, with the translations there are."""
    found = Catalog(locale=LANGUAGE, project="perudo-env", domain=DOMAIN, fuzzy=False)
    # The locale data know a third form, for millions.
    found.mime_headers = [("Plural-Forms", PLURAL_FORMS)]
    for name, _, message, _, context in sorted(
        extract_from_dir(PACKAGE, METHODS, keywords=KEYWORDS), key=lambda m: (m[0], m[1])
    ):
        found.add(message, context=context, locations=[(Path(name).as_posix(), None)])  # type: ignore[list-item] # no line numbers: they change with every edit
    for clause in ENGLISH.values():
        found.add(clause, locations=[("engine/clauses.py", None)])  # type: ignore[list-item]
    if PO.exists():
        with PO.open("rb") as file:
            known = read_po(file, locale=LANGUAGE, domain=DOMAIN)
        for text in found:
            told = known.get(text.id, text.context)
            if text.id and told is not None:
                text.string = told.string
    return found


def po_bytes(catalogue: Catalog) -> bytes:
    """The catalogue as text to translate; the same for the same texts, with no dates."""
    out = io.BytesIO()
    write_po(out, catalogue, width=0, omit_header=True, sort_output=True)
    head = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: ' + PLURAL_FORMS + '\\n"\n\n'
    )
    return head.encode() + out.getvalue()


def mo_bytes(catalogue: Catalog) -> bytes:
    """The catalogue as gettext reads it."""
    out = io.BytesIO()
    with_head = read_po(io.BytesIO(po_bytes(catalogue)), locale=LANGUAGE, domain=DOMAIN)
    # the same bytes whenever it is compiled
    with_head.creation_date = with_head.revision_date = datetime(2000, 1, 1, tzinfo=timezone.utc)
    write_mo(out, with_head)
    return out.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """The texts without a translation."""
    return [
        str(m.id)
        for m in catalogue
        if m.id and not all(m.string if isinstance(m.string, tuple | list) else (m.string,))
    ]


def main() -> None:
    """Write ``.po`` and ``.mo``, and say what is yet to translate."""
    catalogue = collected()
    PO.parent.mkdir(parents=True, exist_ok=True)
    PO.write_bytes(po_bytes(catalogue))
    PO.with_suffix(".mo").write_bytes(mo_bytes(catalogue))
    print(f"{PO}: {len(catalogue)} texts")
    for text in untranslated(catalogue):
        print("to translate:", text)


if __name__ == "__main__":
    main()
