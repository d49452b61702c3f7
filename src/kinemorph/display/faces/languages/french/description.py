"""Texts of the description of a model."""

from __future__ import annotations

TEXTS = {
    "Description": "Description",
    "name": "nom",
    "model file": "fichier du modèle",
    "degrees of freedom": "degrés de liberté",
    "bodies": "corps",
    "joints": "liaisons",
    "loops": "boucles",
    "elements": "éléments",
    "modules": "modules",
    "total mass": "masse totale",
    "gravity": "pesanteur",
    "runs": "simulations",
    "{n} body": "{n} corps",
    "{n} bodies": "{n} corps",
    "{n} degree of freedom": "{n} degré de liberté",
    "{n} degrees of freedom": "{n} degrés de liberté",
    "The model {name} has {bodies} and {dof}.": "Le modèle {name} comporte {bodies} et {dof}.",
    "The model {name} has {bodies} in closed chains. Its equations are those of a tree with {dof}, in which the loops "
    "are cut; constraints close them again.": (
        "Le modèle {name} comporte {bodies} en chaînes fermées. Ses équations sont celles d'un arbre à {dof}, dans "
        "lequel les boucles sont coupées ; des contraintes les referment."
    ),
    "The robot where its runs begin; axes of joints are dash-dotted lines.": (
        "Le robot au début de ses simulations ; les axes des liaisons sont en trait mixte."
    ),
    "Bodies and joints: every joint connects a body with its parent.": (
        "Corps et liaisons : chaque liaison relie un corps à son parent."
    ),
    "Frames": "Repères",
    "frame": "repère",
    "on body": "sur le corps",
    "Parameters": "Paramètres",
    "parameter": "paramètre",
    "value": "valeur",
    "unit": "unité",
    "Quantities that follow from others": "Grandeurs qui dépendent des autres",
    "formula": "formule",
}
