"""Texts of the chapter about bodies and joints, and the kinds of joints."""

from __future__ import annotations

TEXTS = {
    "Bodies and joints": "Corps et liaisons",
    "Masses, centers of mass and inertias": "Masses, centres de masse et inerties",
    "body": "corps",
    "mass": "masse",
    "center of mass": "centre de masse",
    "Moments and products of inertia [kg m²] are about the center of mass, in the axes of the body.": (
        "Les moments et produits d'inertie [kg m²] sont pris au centre de masse, dans les axes du corps."
    ),
    "Joints, in the order of q": "Liaisons, dans l'ordre de q",
    "joint": "liaison",
    "kind": "type",
    "parent": "parent",
    "child": "enfant",
    "axis": "axe",
    "coordinates": "coordonnées",
    "limits": "butées",
    "{low} to {high} {unit}": "{low} à {high} {unit}",
    "at least {low} {unit}": "au moins {low} {unit}",
    "at most {high} {unit}": "au plus {high} {unit}",
    "The last joint of this table closes a loop and has no coordinate: it is kept by constraints.": (
        "La dernière liaison du tableau ferme une boucle et n'a pas de coordonnée : des contraintes la maintiennent."
    ),
    "The last {n} joints of this table close loops and have no coordinates: they are kept by constraints.": (
        "Les {n} dernières liaisons du tableau ferment des boucles et n'ont pas de coordonnées : des contraintes les "
        "maintiennent."
    ),
    "Limits and losses, SI": "Limites et pertes, en unités SI",
    "velocity": "vitesse",
    "effort": "effort",
    "damping": "amortissement",
    "friction": "frottement",
    "armature": "inertie du rotor",
    "Couplings": "Couplages",
    "follows": "suit",
    "times": "facteur",
    "plus": "décalage",
    "revolute": "pivot",
    "prismatic": "glissière",
    "helical": "hélicoïdale",
    "cylindrical": "pivot glissant",
    "universal": "cardan",
    "gimbal": "trois pivots",
    "point_on_line": "linéaire annulaire",
    "point_on_plane": "ponctuelle",
    "free": "libre",
    "fixed": "encastrement",
}
