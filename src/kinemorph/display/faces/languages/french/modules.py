"""Texts of the chapter about modules."""

from __future__ import annotations

TEXTS = {
    "Modules": "Modules",
    "The robot is made of {modules} modules, joined by {dockings} dockings. Modules are numbered from the base {base} "
    "on, path by path.": (
        "Le robot est fait de {modules} modules, reliés par {dockings} accostages. Les modules sont numérotés à partir "
        "de la base {base}, chemin par chemin."
    ),
    "Plan of the modules in their initial configuration.": "Plan des modules dans leur configuration initiale.",
    "Graph of the modules: arrows lead away from the base.": (
        "Graphe des modules : les flèches s'éloignent de la base."
    ),
    "Modules and their free sides": "Modules et leurs faces libres",
    "module": "module",
    "letter": "lettre",
    "type": "type",
    "free sides": "faces libres",
    "Matrices": "Matrices",
    "AIM_SB: assembly incidence matrix with dyad classes": (
        "AIM_SB : matrice d'incidence de l'assemblage avec les classes des dyades"
    ),
    "AIM: assembly incidence matrix of Chen and Yang": "AIM : matrice d'incidence de l'assemblage de Chen et Yang",
    "Adjacency matrix": "Matrice d'adjacence",
    "Signed incidence matrix": "Matrice d'incidence signée",
    "DTL: direct transformations": "DTL : transformations directes",
    "IDTL: indirect transformations": "IDTL : transformations indirectes",
    "Paths from the base to the ends": "Chemins de la base aux extrémités",
    "{title}: {n} columns and {m} rows, too many for a page.": (
        "{title} : {n} colonnes et {m} lignes, trop pour une page."
    ),
    "Numbers of the modules: {names}.": "Numéros des modules : {names}.",
    "Rings are closed by {names}.": "Des anneaux sont fermés par {names}.",
    "Path {n}": "Chemin {n}",
    "Type @modules": "Type",
    "Dyads @modules": "Dyades",
    "Joints @modules": "Liaisons",
    "from @modules": "de",
    "to @modules": "vers",
    "sides @modules": "faces",
    "path @modules": "chemin",
    "modules @modules": "modules",
}
