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
    "a model in Kinemorph": "un modèle dans Kinemorph",
}
