"""Texts of the chapter about conventions."""

from __future__ import annotations

TEXTS = {
    "Conventions": "Conventions",
    "Conventions of all equations and tables": "Conventions de toutes les équations et de tous les tableaux",
    "topic": "sujet",
    "convention": "convention",
    "All numbers are in SI units and radians; a table says where it uses another unit.": (
        "Tous les nombres sont en unités SI et en radians ; un tableau indique s'il emploie une autre unité."
    ),
    "units": "unités",
    "SI: m, kg, s, N, rad": "SI : m, kg, s, N, rad",
    "world": "repère global",
    'z up, gravity (0, 0, -9.81) m/s^2 unless the model says otherwise; "world" is the ground, never a body': (
        "z vers le haut, pesanteur (0 ; 0 ; −9,81) m/s² sauf indication contraire du modèle ; « world » est le sol, "
        "jamais un corps"
    ),
    "poses": "poses",
    "T_ab maps coordinates of frame b to frame a; T_ab T_bc = T_ac": (
        "T_ab transforme les coordonnées du repère b en celles du repère a ; T_ab T_bc = T_ac"
    ),
    "twists": "torseurs cinématiques",
    "[linear; angular]; body twists are in the moving body's own frame": (
        "[vitesse ; vitesse angulaire], exprimés dans le repère propre du corps en mouvement"
    ),
    "wrenches": "torseurs des efforts",
    "[force; moment], dual to twists: power = wrench . twist": (
        "[force ; moment], duaux des torseurs cinématiques : puissance = effort · vitesse"
    ),
    "quaternions": "quaternions",
    "wxyz, unit length": "wxyz, de longueur 1",
    "free joint": "liaison libre",
    "q = [x y z qw qx qy qz], v = body twist [vx vy vz wx wy wz]": (
        "q = [x y z qw qx qy qz], v = torseur cinématique du corps [vx vy vz wx wy wz]"
    ),
    "spherical": "rotule",
    "q = [qw qx qy qz], v = body rate [wx wy wz]": (
        "q = [qw qx qy qz], v = vitesse angulaire dans les axes du corps [wx wy wz]"
    ),
    "planar": "appui plan",
    "q = [x y theta] in the x-y plane of the joint frame, v = body twist [vx vy wz]": (
        "q = [x y theta] dans le plan x-y du repère de la liaison, v = torseur cinématique du corps [vx vy wz]"
    ),
    "joint motion": "mouvement d'une liaison",
    "T_parent_child = placement * motion(q) * inverse(child_placement); axes are in the joint frame": (
        "T_parent_enfant = position · mouvement(q) · inverse(position de l'enfant) ; les axes sont dans le repère de "
        "la liaison"
    ),
    "layout": "ordre",
    "q and v follow the declared order of the tree joints; a joint that closes a loop has no coordinates": (
        "q et v suivent l'ordre de déclaration des liaisons de l'arbre ; une liaison qui ferme une boucle n'a pas de "
        "coordonnée"
    ),
    "inertia": "inertie",
    "about the center of mass, in body axes": "par rapport au centre de masse, dans les axes du corps",
}
