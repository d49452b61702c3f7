"""Texts of the chapters with listings and errata."""

from __future__ import annotations

TEXTS = {
    "Listings": "Listages",
    "The model file {file}": "Le fichier du modèle {file}",
    "{n} more lines of the model file are not printed.": "{n} autres lignes du fichier ne sont pas imprimées.",
    "Some parts of the model are functions, which a file cannot express.": (
        "Certaines parties du modèle sont des fonctions, qu'un fichier ne peut pas exprimer."
    ),
    "A Python program that simulates the model": "Un programme Python qui simule le modèle",
    "The same at a command line": "La même chose en ligne de commande",
    # errata
    "Errata": "Errata",
    "Some equations of the papers on which Kinemorph is based contain misprints. The corrections below bear on what is "
    "used here; each of them was checked by an independent computation or follows from other equations of its paper.": (
        "Certaines équations des articles sur lesquels Kinemorph est fondé contiennent des erreurs d'impression. Les "
        "corrections ci-dessous concernent ce qui est utilisé ici ; chacune a été vérifiée par un calcul indépendant "
        "ou découle d'autres équations de son article."
    ),
    "Corrections that bear on this model": "Corrections qui concernent ce modèle",
    "number": "numéro",
    "place": "endroit",
    "correct form": "forme correcte",
    "Fig. 5": "Figure 5",
    "Table II": "Tableau II",
    "Table III": "Tableau III",
    "Papers": "Articles",
    "paper": "article",
    "e^(w~ q) = I + w~ sin q + w~^2 (1 - cos q), the formula of Rodrigues.": (
        "e^(w~ q) = I + w~ sin q + w~^2 (1 - cos q), la formule de Rodrigues."
    ),
    "M_i = diag(m 1, I), in the order of twists (v, w) of all other equations.": (
        "M_i = diag(m 1, I), dans l'ordre (v, w) des torseurs de toutes les autres équations."
    ),
    "Vd_i = Ad(H^-1) Vd_(i-1) - ad(S_i qd_i) Ad(H^-1) V_(i-1) + S_i qdd_i.": (
        "Vd_i = Ad(H^-1) Vd_(i-1) - ad(S_i qd_i) Ad(H^-1) V_(i-1) + S_i qdd_i."
    ),
    "On a tree, the wrenches of all children of a body are added.": (
        "Dans un arbre, les torseurs de tous les enfants d'un corps s'ajoutent."
    ),
    "F = T^T (-F^e + M Vd + ad*_V M V): outside wrenches have a minus sign.": (
        "F = T^T (-F^e + M Vd + ad*_V M V) : les torseurs extérieurs ont un signe moins."
    ),
    "C = S^T T^T (M T ad_Sqd + ad*_V M) T S: a factor M is missing.": (
        "C = S^T T^T (M T ad_Sqd + ad*_V M) T S : il manque un facteur M."
    ),
    "On a tree, block (i, j) is zero where j is neither i nor an ancestor of i.": (
        "Dans un arbre, le bloc (i, j) est nul si j n'est ni i ni un ancêtre de i."
    ),
    "Md - 2 C of this matrix C is not skew-symmetric; the matrix C of the checks of passivity is another one.": (
        "Md - 2 C n'est pas antisymétrique pour cette matrice C ; la vérification de la passivité en utilise une autre."
    ),
    "Columns e1 and e2 have the sides of Table III: 3-2 and 5-3, both DO.": (
        "Les colonnes e1 et e2 ont les faces du tableau III : 3-2 et 5-3, toutes deux DO."
    ),
    "The hinge is along y, through faces 2 and 5; all 16 pairs follow from this.": (
        "La charnière est selon y, à travers les faces 2 et 5 ; les 16 paires en découlent."
    ),
    "The columns of the IDTL are i j, i x and x j.": "Les colonnes de l'IDTL sont i j, i x et x j.",
    "The foot is F = A + k (C - A): decoupled, with gains k and -(k - 1).": (
        "Le pied est F = A + k (C - A) : découplé, de gains k et -(k - 1)."
    ),
    "The motor of second order is L di/dt + R i = u - K_b w, T = K_m i.": (
        "Le moteur du second ordre est L di/dt + R i = u - K_b w, T = K_m i."
    ),
    "The normal force is never negative: F_n >= 0.": "L'effort normal n'est jamais négatif : F_n >= 0.",
    "v_glim is a number, and the law is continuous there.": "v_glim est un nombre, où la loi est continue.",
    "U = K_p E + K_i E/s + K_d s E / (1 + s K_d/N): a factor s is missing.": (
        "U = K_p E + K_i E/s + K_d s E / (1 + s K_d/N) : il manque un facteur s."
    ),
    "dM/dt = -ad(t)^T M - M ad(t); ad has no inverse.": "dM/dt = -ad(t)^T M - M ad(t) ; ad n'a pas d'inverse.",
    "k is the upward vertical: gravity is M^(0,i) (0, -k) g.": (
        "k est la verticale ascendante : la pesanteur est M^(0,i) (0, -k) g."
    ),
    "H = rho^T H' rho.": "H = rho^T H' rho.",
    "H qdd = -C qd - g + rho^T B tau: C qd has a minus sign.": (
        "H qdd = -C qd - g + rho^T B tau : C qd a un signe moins."
    ),
    "rho = Gamma_qd^-1 [0; I] is singular at dead points.": (
        "rho = Gamma_qd^-1 [0; I] est singulière aux points morts."
    ),
    "dT/dC = y~ C^T x.": "dT/dC = y~ C^T x.",
    "The diagonal blocks are (w~ rho)~ and (w~ L)~.": "Les blocs diagonaux sont (w~ rho)~ et (w~ L)~.",
}
