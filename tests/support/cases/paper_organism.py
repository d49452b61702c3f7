"""What Meister and Gutenkunst print of their example: the organism of Fig. 4 and Tables II and III."""

from __future__ import annotations

from kinemorph.model.modules import Assembly, Docking, Module, backbone

# Table III: i, j, side from, side to
DTL = (
    (0, 1, 3, 2),
    (1, 2, 5, 3),
    (0, 3, 5, 2),
    (3, 4, 4, 3),
    (4, 5, 5, 2),
    (0, 6, 2, 5),
    (6, 7, 4, 2),
    (7, 8, 4, 5),
)
# Table III: i j | i x | x j
IDTL = (
    (0, 2, 0, 1, 1, 2),
    (0, 4, 0, 3, 3, 4),
    (3, 5, 3, 4, 4, 5),
    (0, 5, 0, 4, 4, 5),
    (0, 7, 0, 6, 6, 7),
    (6, 8, 6, 7, 7, 8),
    (0, 8, 0, 7, 7, 8),
)
# Table II: pairs of sides of each class
DYADS = {
    "DS": {(2, 2), (2, 5), (5, 2), (5, 5)},
    "DP": {(3, 3), (3, 4), (4, 3), (4, 4)},
    "DO": {(2, 3), (2, 4), (3, 2), (3, 5), (4, 2), (4, 5), (5, 3), (5, 4)},
}
# Fig. 5 as printed, with what E000-14 is about
PRINTED_AIM = """
        Path1   Path2   Path3   Links
        e_1 e_2 e_3 e_4 e_5 e_6 e_7 e_8
v_0     3   0   5   0   0   2   0   0   B
v_1     4   3   0   0   0   0   0   0   B
v_2     0   4   0   0   0   0   0   0   B
v_3     0   0   2   4   0   0   0   0   B
v_4     0   0   0   3   5   0   0   0   B
v_5     0   0   0   0   2   0   0   0   B
v_6     0   0   0   0   0   5   4   0   B
v_7     0   0   0   0   0   0   2   4   B
v_8     0   0   0   0   0   0   0   5   B
Joints  DO  DO  DS  DP  DS  DS  DO  DO
"""


def paper_organism() -> Assembly:
    """The nine Backbones of Fig. 4, docked as in Table III."""
    modules = tuple(Module(f"m{k}", backbone()) for k in range(9))
    return Assembly("organism", modules, tuple(Docking(f"m{i}", a, f"m{j}", b) for i, j, a, b in DTL))
