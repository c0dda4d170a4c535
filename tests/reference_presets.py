"""The switches and presets of the second referee, written from RULES.md alone, as its tables print them."""

from __future__ import annotations

VALUES: dict[str, tuple] = {
    "starting_dice": (1, 2, 3, 4, 5, 6),
    "num_faces": (2, 3, 4, 5, 6),
    "raise_rule": ("one_axis", "monotone", "quantity_any_face"),
    "paco_open": ("palifico_only", "always"),
    "palifico": ("off", "each_drop", "once"),
    "calza": ("off", "on_turn", "anyone"),
    "max_bid": ("dice_in_play", "starting_dice", "unbounded"),
    "dice_counts": ("public", "hidden"),
    "first_player": ("random", "roll_off", "first_seat"),
    "paco_bids": ("halved", "top_face", "low_face"),
    "pacos_wild": (True, False),
    "rounds": ("until_one_left", "one"),
}

# The table "Presets". The last three switches have one value in "all five" texts.
_FIVE_TEXTS = {"num_faces": 6, "paco_bids": "halved", "pacos_wild": True, "rounds": "until_one_left"}

PRESETS: dict[str, dict] = {
    "classic": _FIVE_TEXTS
    | {
        "starting_dice": 5,
        "raise_rule": "monotone",
        "paco_open": "palifico_only",
        "palifico": "each_drop",
        "calza": "off",
        "max_bid": "starting_dice",
        "dice_counts": "public",
        "first_player": "roll_off",
    },
    "pascal": _FIVE_TEXTS
    | {
        "starting_dice": 5,
        "raise_rule": "quantity_any_face",
        "paco_open": "always",
        "palifico": "off",
        "calza": "on_turn",
        "max_bid": "starting_dice",
        "dice_counts": "public",
        "first_player": "random",
    },
    "box": _FIVE_TEXTS
    | {
        "starting_dice": 5,
        "raise_rule": "one_axis",
        "paco_open": "palifico_only",
        "palifico": "each_drop",
        "calza": "off",
        "max_bid": "starting_dice",
        "dice_counts": "hidden",
        "first_player": "random",
    },
    "marquoir": _FIVE_TEXTS
    | {
        "starting_dice": 5,
        "raise_rule": "quantity_any_face",
        "paco_open": "palifico_only",
        "palifico": "each_drop",
        "calza": "on_turn",
        "max_bid": "starting_dice",
        "dice_counts": "public",
        "first_player": "random",
    },
    "evening": _FIVE_TEXTS
    | {
        "starting_dice": 5,
        "raise_rule": "quantity_any_face",
        "paco_open": "palifico_only",
        "palifico": "once",
        "calza": "off",
        "max_bid": "unbounded",
        "dice_counts": "public",
        "first_player": "random",
    },
    "liars_dice": {
        "starting_dice": 5,
        "num_faces": 6,
        "raise_rule": "quantity_any_face",
        "paco_open": "always",
        "palifico": "off",
        "calza": "off",
        "max_bid": "dice_in_play",
        "dice_counts": "public",
        "first_player": "first_seat",
        "paco_bids": "top_face",
        "pacos_wild": True,
        "rounds": "one",
    },
}
PRESETS["joker"] = PRESETS["liars_dice"] | {"paco_bids": "low_face"}
PRESETS["pascal_round"] = PRESETS["pascal"] | {"rounds": "one"}
