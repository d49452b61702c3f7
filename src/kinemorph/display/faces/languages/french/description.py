"""Texts of the description of a model."""

from __future__ import annotations

TEXTS = {
    "Description": "Description",
    "name": "nom",
    "model file": "fichier du modèle",
    "degrees of freedom": "degrés de liberté",
    "degrees of freedom of the cut tree": "degrés de liberté de l'arbre coupé",
    "degrees of freedom with loops closed": "degrés de liberté avec boucles fermées",
    "entries of q": "composantes de q",
    "bodies": "corps",
    "bodies without mass": "corps sans masse",
    "joints": "liaisons",
    "loops": "boucles",
    "elements": "éléments",
    "modules": "modules",
    "dockings": "accostages",
    "base module": "module de base",
    "time of a run": "durée d'une simulation",
    "time between samples": "temps entre échantillons",
    "longest step": "pas le plus long",
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
    "Parameters of elements": "Paramètres des éléments",
    "parameter": "paramètre",
    "value": "valeur",
    "unit": "unité",
    "Quantities that follow from others": "Grandeurs qui dépendent des autres",
    "formula": "formule",
}
