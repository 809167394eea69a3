"""Which findings fit a labelled case: the CWEs of its category, and families of CWEs that name the same flaw."""

OWASP_CWES: dict[str, frozenset[int]] = {
    "cmdi": frozenset({78, 77, 88}),
    "codeinj": frozenset({94, 95}),
    "deserialization": frozenset({502}),
    "hash": frozenset({327, 328, 916}),
    "ldapi": frozenset({90}),
    "pathtraver": frozenset({22}),
    "redirect": frozenset({601}),
    "securecookie": frozenset({614, 1004}),
    "sqli": frozenset({89}),
    "trustbound": frozenset({501}),
    "weakrand": frozenset({330, 338}),
    "xpathi": frozenset({643}),
    "xss": frozenset({79, 80}),
    "xxe": frozenset({611, 776, 827}),
}
FAMILIES: tuple[frozenset[int], ...] = (
    # CWE-20 and CWE-116 are the roots of the injections: a right finding below them names the exact one.
    frozenset({20, 22, 73, 78, 79, 89, 90, 94, 95, 502, 601, 611, 643, 776, 918}),
    frozenset({116, 78, 79, 89, 90, 94, 117, 643}),
    frozenset({22, 23, 36, 73, 99, 377, 379, 434, 641, 59}),
    frozenset({77, 78, 88}),
    frozenset({79, 80, 83, 87, 116, 1004}),
    frozenset({89, 564, 943}),
    frozenset({90}),
    frozenset({91, 643}),
    frozenset({94, 95, 96, 1336, 917}),
    frozenset({93, 113, 117}),
    frozenset({200, 209, 215, 489, 497, 532}),
    frozenset({250, 269, 276, 732, 284, 285}),
    frozenset({256, 259, 321, 522, 798, 260, 547}),
    frozenset({287, 306, 425, 862}),
    frozenset({295, 297, 319, 322, 523, 614, 311}),
    frozenset({326, 327, 328, 916, 759, 760, 329, 1204, 347, 345}),
    frozenset({330, 331, 338, 339, 340, 335, 336}),
    frozenset({367, 362}),
    frozenset({400, 730, 770, 1333, 406, 835, 185}),
    frozenset({352}),
    frozenset({434}),
    frozenset({501}),
    frozenset({502}),
    frozenset({601}),
    frozenset({605, 668}),
    frozenset({611, 776, 827}),
    frozenset({703, 252, 390, 391, 396, 754}),
    frozenset({918, 941}),
    frozenset({258, 521, 522, 916, 328}),
)


def is_same_family(cwe: int, other: int | None) -> bool:
    return cwe == other or any(cwe in family and other in family for family in FAMILIES)
