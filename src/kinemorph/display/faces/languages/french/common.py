"""Texts of all reports: title page, contents, captions, and words that several chapters use."""

from __future__ import annotations

TEXTS = {
    "yes": "oui",
    "no": "non",
    "none": "aucun",
    "“{name}”": "« {name} »",
    ": ": " : ",
    "; ": " ; ",
    "{names} and {n} more": "{names} et {n} autres",
    "Contents": "Table des matières",
    "Table": "Tableau",
    "Figure": "Figure",
    "Listing": "Listage",
    "page {n} of {total}": "page {n} sur {total}",
    "Attached files": "Fichiers joints",
    "Kinemorph {version}": "Kinemorph {version}",
    "Report on a model": "Rapport sur un modèle",
    "Report on {name}": "Rapport sur {name}",
    "if @formula": "si",
    "otherwise @formula": "sinon",
    "all others @formula": "tous les autres",
    "passed": "réussi",
    "failed": "échoué",
    "ok": "bon",
    "met": "atteint",
    "missed": "manqué",
    "skipped": "omis",
    "missing": "absent",
}
