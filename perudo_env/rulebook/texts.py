"""The words of the rulebook, English and French, and what is known of each switch's sources. In our own words throughout."""

from __future__ import annotations

from typing import Any, NamedTuple


class Words(NamedTuple):
    """One text in both languages."""

    en: str
    fr: str


ALL = ("S0", "S1", "S2", "S3", "S4")
SOURCES: dict[str, Words] = {
    "S0": Words("a complete guide", "un guide complet"),
    "S1": Words("the rules of the app Pascal", "les règles de l'application Pascal"),
    "S2": Words(
        "the boxed edition (Richard Bord; TSR, Parker, Asmodée)",
        "l'édition en boîte (Richard Bord ; TSR, Parker, Asmodée)",
    ),
    "S3": Words("the score keeper Marquoir", "le marqueur de scores Marquoir"),
    "S4": Words("how to score an evening", "compter les points d'une soirée"),
}
PRESET_SOURCE = {"classic": "S0", "pascal": "S1", "box": "S2", "marquoir": "S3", "evening": "S4"}

# The switches on which a preset's source is silent or unclear, so that a default was chosen.
SILENT: dict[str, frozenset[str]] = {
    "classic": frozenset({"max_bid", "dice_counts"}),
    "pascal": frozenset({"max_bid", "dice_counts", "first_player"}),
    "box": frozenset({"max_bid"}),
    "marquoir": frozenset({"raise_rule", "paco_open", "calza", "max_bid", "first_player"}),
    "evening": frozenset({"raise_rule", "paco_open", "dice_counts", "first_player"}),
}

# What a preset's own source offers beside its main rule.
OPTIONS: frozenset[tuple[str, str, Any]] = frozenset(
    {
        ("classic", "calza", "on_turn"),
        ("box", "calza", "anyone"),
        ("box", "dice_counts", "public"),
        ("marquoir", "calza", "off"),
        ("marquoir", "starting_dice", 3),
        ("marquoir", "starting_dice", 6),
        ("evening", "calza", "on_turn"),
    }
)
# Offered, but without saying who may speak.
VAGUE_OPTIONS = frozenset({("classic", "calza", "on_turn"), ("evening", "calza", "on_turn")})

# Which texts state a value; a value that is missing here stands in none of them.
STATED: dict[tuple[str, Any], tuple[str, ...]] = {
    ("starting_dice", 3): ("S3",),
    ("starting_dice", 5): ALL,
    ("starting_dice", 6): ("S3",),
    ("num_faces", 6): ALL,
    ("raise_rule", "one_axis"): ("S2",),
    ("raise_rule", "monotone"): ("S0",),
    ("raise_rule", "quantity_any_face"): ("S1",),
    ("paco_open", "palifico_only"): ("S0", "S2"),
    ("paco_open", "always"): ("S1",),
    ("palifico", "off"): ("S1",),
    ("palifico", "each_drop"): ("S0", "S2", "S3"),
    ("palifico", "once"): ("S4",),
    ("calza", "off"): ("S0", "S2", "S3", "S4"),
    ("calza", "on_turn"): ("S1",),
    ("calza", "anyone"): ("S2",),
    ("max_bid", "unbounded"): ("S4",),
    ("dice_counts", "public"): ("S2", "S3"),
    ("dice_counts", "hidden"): ("S2",),
    ("first_player", "random"): ("S2",),
    ("first_player", "roll_off"): ("S0",),
    ("paco_bids", "halved"): ALL,
    ("pacos_wild", True): ALL,
    ("rounds", "until_one_left"): ALL,
}

TITLES: dict[str, Words] = {
    "table": Words("The table", "La table"),
    "starting_dice": Words("Dice at the start", "Dés au départ"),
    "num_faces": Words("Faces", "Faces"),
    "first_player": Words("Who opens first", "Qui ouvre la première manche"),
    "dice_counts": Words("What one sees", "Ce que l'on voit"),
    "calls": Words("A turn", "Un tour de parole"),
    "raise_rule": Words("Raising", "Surenchérir"),
    "pacos_wild": Words("Pacos", "Les Pacos"),
    "paco_bids": Words("Bids on Pacos", "Enchères sur les Pacos"),
    "paco_open": Words("Opening on Pacos", "Ouvrir sur les Pacos"),
    "max_bid": Words("The highest bid", "L'enchère maximale"),
    "dudo": Words("Dudo", "Dudo"),
    "calza": Words("Calza", "Calza"),
    "palifico": Words("Palifico", "Palifico"),
    "opener": Words("Who opens next", "Qui ouvre la manche suivante"),
    "rounds": Words("The end", "La fin"),
}

# Clauses that no switch changes; {seats} stands for the numbers of seats.
FIXED: dict[str, Words] = {
    "table": Words(
        "2 to {seats} players sit around a table. Each round all roll their dice in secret under a cup.",
        "De 2 à {seats} joueurs autour d'une table. À chaque manche, chacun lance ses dés en secret sous un gobelet.",
    ),
    "calls": Words(
        "The opener names a quantity and a face: at least so many dice on the whole table show it. Clockwise, each seat then "
        "raises or says Dudo. Doubting, like calling exact where that is played, needs a bid to answer.",
        "Celui qui ouvre annonce une quantité et une face : au moins tant de dés de toute la table la montrent. Puis, dans le "
        "sens horaire, chacun surenchérit ou dit Dudo. Pour douter, ou dire « exact » là où on le joue, il faut une enchère.",
    ),
    "dudo": Words(
        "Dudo: all dice are shown and counted. If the count reaches the bid, the doubter loses one die; if not, the bidder does. "
        "Nobody else loses anything.",
        "Dudo : tous les dés sont montrés et comptés. Si le compte atteint l'enchère, celui qui doute perd un dé ; sinon, c'est "
        "l'enchérisseur. Personne d'autre ne perd rien.",
    ),
    "opener": Words(
        "The seat that lost a die, or said Calza, opens the next round; if it is out, the next seat clockwise with dice does.",
        "Celui qui a perdu un dé, ou dit Calza, ouvre la manche suivante ; s'il est éliminé, c'est le suivant dans le sens "
        "horaire qui a encore des dés.",
    ),
}  # fmt: skip

# The clause of each switch by its value; None stands for any value, {value} for the value itself.
BY_VALUE: dict[str, dict[Any, Words]] = {
    "starting_dice": {
        None: Words(
            "Each seat starts with this many dice and never holds more: {value}.",
            "Chacun commence avec ce nombre de dés et n'en a jamais davantage : {value}.",
        )
    },
    "num_faces": {None: Words("The faces of a die run from 1 to {value}.", "Les faces d'un dé vont de 1 à {value}.")},
    "first_player": {
        "random": Words("Chance decides who opens the first round.", "Le sort désigne celui qui ouvre la première manche."),
        "roll_off": Words(
            "Each seat rolls two dice; the highest sum opens the first round, and those who tie roll again.",
            "Chacun lance deux dés ; la plus forte somme ouvre la première manche, et les ex aequo relancent.",
        ),
        "first_seat": Words("Seat 0 opens the first round.", "La place 0 ouvre la première manche."),
    },
    "dice_counts": {
        "public": Words("Everybody sees how many dice each seat has left.", "Chacun voit combien de dés il reste aux autres."),
        "hidden": Words(
            "One sees who is still in, but not how many dice the others have left; every loss is seen when it happens.",
            "On voit qui joue encore, mais pas combien de dés il reste aux autres ; chaque perte se voit au moment où elle arrive.",
        ),
    },
    "raise_rule": {
        "one_axis": Words(
            "On faces from 2 up: either more dice of the same face, or as many dice of a higher face; never both at once.",
            "Sur les faces à partir de 2 : ou plus de dés de la même face, ou autant de dés d'une face plus haute ; jamais les deux.",
        ),
        "monotone": Words(
            "On faces from 2 up: more dice, or a higher face, or both; neither may go down.",
            "Sur les faces à partir de 2 : plus de dés, ou une face plus haute, ou les deux ; rien ne descend.",
        ),
        "quantity_any_face": Words(
            "On faces from 2 up: more dice of any face, or as many dice of a higher face.",
            "Sur les faces à partir de 2 : plus de dés de n'importe quelle face, ou autant de dés d'une face plus haute.",
        ),
    },
    "pacos_wild": {
        True: Words(
            "Ones are Pacos: they count for every face, outside palifico rounds. A bid on Pacos themselves counts only ones.",
            "Les as sont des Pacos : ils comptent pour toutes les faces, hors manche palifico. Une enchère sur les Pacos ne compte que les as.",
        ),
        False: Words(
            "Ones are Pacos by name only: they count for no other face.",
            "Les as n'ont de Paco que le nom : ils ne comptent pour aucune autre face.",
        ),
    },
    "paco_bids": {
        "halved": Words(
            "From a face to Pacos: at least half as many, rounded up. From Pacos to a face: at least twice as many plus one, "
            "on any face. From Pacos to Pacos: more.",
            "D'une face aux Pacos : au moins la moitié, arrondie au-dessus. Des Pacos à une face : au moins le double plus un, sur "
            "n'importe quelle face. Des Pacos aux Pacos : davantage.",
        ),
        "top_face": Words(
            "As a bid, Pacos are the highest face; nothing is halved or doubled.",
            "Dans les enchères, les Pacos sont la face la plus haute ; rien n'est divisé ni doublé.",
        ),
        "low_face": Words(
            "As a bid, Pacos are the lowest face; nothing is halved or doubled.",
            "Dans les enchères, les Pacos sont la face la plus basse ; rien n'est divisé ni doublé.",
        ),
    },
    "paco_open": {
        "palifico_only": Words(
            "A round does not open with a bid on Pacos, unless it is a palifico round.",
            "On n'ouvre pas une manche sur les Pacos, sauf une manche palifico.",
        ),
        "always": Words("Any round may open with a bid on Pacos.", "Toute manche peut s'ouvrir sur les Pacos."),
    },
    "max_bid": {
        "dice_in_play": Words(
            "No bid exceeds the number of dice now on the table.",
            "Aucune enchère ne dépasse le nombre de dés qui sont sur la table.",
        ),
        "starting_dice": Words(
            "No bid exceeds the number of dice on the table when the game began.",
            "Aucune enchère ne dépasse le nombre de dés qui étaient sur la table au début de la partie.",
        ),
        "unbounded": Words(
            "A bid may exceed the dice on the table. So that actions can be listed, it ends at twice the dice of the start plus one.",
            "Une enchère peut dépasser les dés de la table. Pour que les actions soient en nombre fini, elle s'arrête au double des "
            "dés du départ plus un.",
        ),
    },
    "calza": {
        "off": Words("Calza is not played.", "On joue sans Calza."),
        "on_turn": Words(
            "The seat to act may say Calza: the count is exactly the bid. Right, it takes a lost die back, never beyond the number "
            "of the start; wrong, it loses one. The bidder is safe.",
            "Celui dont c'est le tour peut dire Calza : le compte est exactement l'enchère. S'il a raison, il reprend un dé perdu, "
            "sans dépasser le nombre de départ ; sinon il en perd un. L'enchérisseur ne risque rien.",
        ),
        "anyone": Words(
            "Before a bid is answered, any seat but its bidder may say Calza: the count is exactly the bid. They are asked in turn "
            "order and the first to say so is heard. Right, it takes a lost die back, never beyond the number of the start; wrong, "
            "it loses one. The bidder is safe.",
            "Avant qu'on réponde à une enchère, chacun sauf l'enchérisseur peut dire Calza : le compte est exactement l'enchère. On "
            "le demande dans l'ordre du tour, et le premier à le dire est entendu. S'il a raison, il reprend un dé perdu, sans "
            "dépasser le nombre de départ ; sinon il en perd un. L'enchérisseur ne risque rien.",
        ),
    },
    "palifico": {
        "off": Words("Dropping to one die changes nothing.", "Tomber à un dé ne change rien."),
        "each_drop": Words(
            "Whenever a seat drops from two dice to one, it opens the next round, a palifico round: it may open on Pacos, its face "
            "binds everybody, only the quantity rises, and Pacos are not wild.",
            "Chaque fois qu'un joueur passe de deux dés à un, il ouvre la manche suivante, qui est palifico : il peut ouvrir sur les "
            "Pacos, sa face s'impose à tous, seule la quantité monte, et les Pacos ne remplacent rien.",
        ),
        "once": Words(
            "The first time in a game that a seat drops from two dice to one, it opens the next round, a palifico round: it may open "
            "on Pacos, its face binds everybody, only the quantity rises, and Pacos are not wild. A second drop changes nothing.",
            "La première fois de la partie qu'un joueur passe de deux dés à un, il ouvre la manche suivante, qui est palifico : il "
            "peut ouvrir sur les Pacos, sa face s'impose à tous, seule la quantité monte, et les Pacos ne remplacent rien. Une "
            "deuxième chute ne change rien.",
        ),
    },
    "rounds": {
        "until_one_left": Words(
            "A seat without dice is out, and the last one with dice wins. The first out is last in the ranking.",
            "Un joueur sans dé est éliminé, et le dernier qui a des dés gagne. Le premier éliminé est dernier au classement.",
        ),
        "one": Words(
            "One round only: the seat that loses its die is paid -1, and the others share the opposite equally.",
            "Une seule manche : celui qui perd un dé reçoit -1, et les autres se partagent l'opposé à parts égales.",
        ),
    },
}  # fmt: skip

# The values of each switch in a few words, to choose from; numbers say themselves.
VALUE_NAMES: dict[str, dict[Any, Words]] = {
    "first_player": {
        "random": Words("by chance", "au sort"),
        "roll_off": Words("the highest sum of two dice", "la plus forte somme de deux dés"),
        "first_seat": Words("the first seat", "la première place"),
    },
    "dice_counts": {
        "public": Words("how many dice each has left", "combien de dés il reste à chacun"),
        "hidden": Words("who is still in, no counts", "qui joue encore, sans les nombres"),
    },
    "raise_rule": {
        "one_axis": Words("more dice or a higher face, not both", "plus de dés ou une face plus haute, pas les deux"),
        "monotone": Words("more dice, a higher face, or both", "plus de dés, une face plus haute, ou les deux"),
        "quantity_any_face": Words(
            "more dice of any face, or a higher face", "plus de dés de toute face, ou une face plus haute"
        ),
    },
    "pacos_wild": {
        True: Words("count for every face", "comptent pour toutes les faces"),
        False: Words("count for no other face", "ne comptent pour aucune autre face"),
    },
    "paco_bids": {
        "halved": Words("half as many, and back twice as many", "moitié moins, et retour au double"),
        "top_face": Words("the highest face", "la face la plus haute"),
        "low_face": Words("the lowest face", "la face la plus basse"),
    },
    "paco_open": {
        "palifico_only": Words("in palifico rounds only", "en manche palifico seulement"),
        "always": Words("in any round", "à toute manche"),
    },
    "max_bid": {
        "dice_in_play": Words("the dice now on the table", "les dés qui sont sur la table"),
        "starting_dice": Words("the dice of the start", "les dés du départ"),
        "unbounded": Words("beyond the dice on the table", "au-delà des dés de la table"),
    },
    "calza": {
        "off": Words("not played", "non joué"),
        "on_turn": Words("on one's turn", "à son tour"),
        "anyone": Words("anyone but the bidder", "tous sauf l'enchérisseur"),
    },
    "palifico": {
        "off": Words("not played", "non joué"),
        "each_drop": Words("at each drop to one die", "à chaque chute à un dé"),
        "once": Words("at the first drop to one die", "à la première chute à un dé"),
    },
    "rounds": {
        "until_one_left": Words("when only one player has dice", "quand un seul joueur a encore des dés"),
        "one": Words("after one round", "après une manche"),
    },
}

# What to know of how a source was read: (preset, or None for any preset with this value; switch; value) -> remark.
REMARKS: dict[tuple[str | None, str, Any], Words] = {
    ("box", "paco_bids", "halved"): Words(
        "S2's sentence on leaving Pacos and its example disagree; the example (4 Pacos, then 9 dice) is followed.",
        "Dans S2, la phrase sur la sortie des Pacos et son exemple se contredisent ; l'exemple (4 Pacos, puis 9 dés) est suivi.",
    ),
    ("marquoir", "calza", "on_turn"): Words(
        "S3 plays Calza but does not say who may speak.", "S3 joue le Calza sans dire qui peut parler."
    ),
    ("marquoir", "starting_dice", 5): Words("S3 also plays 3 dice, or 6.", "S3 se joue aussi à 3 dés, ou à 6."),
    ("classic", "calza", "off"): Words("Calza is an option of S0.", "Le Calza est une option de S0."),
    ("evening", "calza", "off"): Words("Calza is an option of S4.", "Le Calza est une option de S4."),
    ("box", "calza", "off"): Words(
        "Calza, said by anyone, is an option of S2.", "Le Calza, dit par n'importe qui, est une option de S2."
    ),
    ("box", "dice_counts", "hidden"): Words(
        "Showing the counts is an option of S2.", "Montrer les nombres est une option de S2."
    ),
    (None, "palifico", "each_drop"): Words(
        "With two players left too: no text excludes it.", "À deux joueurs aussi : aucun texte ne l'exclut."
    ),
    (None, "palifico", "once"): Words(
        "With two players left too: no text excludes it.", "À deux joueurs aussi : aucun texte ne l'exclut."
    ),
}
