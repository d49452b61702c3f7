"""Texts of the chapters with formulas: position matrices, velocities, accelerations, equations of motion."""

from __future__ import annotations

TEXTS = {
    "quantity": "grandeur",
    "operations": "opérations",
    "shared parts": "parties communes",
    "Formulas that are too long to be printed": "Formules trop longues pour être imprimées",
    "Their formulas are written to a file by": "Leurs formules sont écrites dans un fichier par",
    "Symbols": "Symboles",
    "Position matrices": "Matrices de situation",
    "body {n}, {body}": "corps {n}, {body}",
    "The matrix T with the indices a and b is the pose of body b in body a: its rotation, and the origin of b [m]. "
    "Body 0 is the world. Where the matrix in the world would be long, it is written as a product.": "La matrice T "
    "d’indices a et b est la situation du corps b dans le corps a : sa rotation, et l’origine de b [m]. Le corps 0 est "
    "le repère global. Là où la matrice dans le repère global serait longue, elle est écrite comme un produit.",
    "The matrix of {n} more body is not printed.": "La matrice de {n} autre corps n’est pas imprimée.",
    "Those of {n} more are not printed.": "Celles de {n} autres corps ne sont pas imprimées.",
    "Numbers of the bodies": "Numéros des corps",
    "carried by": "porté par",
    "Velocities": "Vitesses",
    "The velocity v of the center of mass G [m/s] and the angular velocity ω [rad/s] of each body are in the axes "
    "of the world. They follow from the position matrices by differentiation.": "La vitesse v du centre de masse G "
    "[m/s] et la vitesse angulaire ω [rad/s] de chaque corps sont exprimées dans le repère global. Elles découlent "
    "des matrices de situation par dérivation.",
    "angular velocity": "vitesse angulaire",
    "acceleration": "accélération",
    "angular acceleration": "accélération angulaire",
    "Accelerations": "Accélérations",
    "The acceleration a of the center of mass G [m/s²] and the angular acceleration [rad/s²] of each body are in "
    "the axes of the world. Gravity is not part of them.": "L’accélération a du centre de masse G [m/s²] et "
    "l’accélération angulaire [rad/s²] de chaque corps sont exprimées dans le repère global. La pesanteur n’en fait "
    "pas partie.",
    "Those of {n} more body are not printed.": "Celles de {n} autre corps ne sont pas imprimées.",
    "Those of {n} more bodies are not printed.": "Celles de {n} autres corps ne sont pas imprimées.",
    "Equations of motion": "Équations du mouvement",
    "mass matrix": "matrice de masse",
    "other generalized forces of the motion and of gravity": "autres forces généralisées, du mouvement et de la "
    "pesanteur",
    "Jacobian of the constraints": "jacobienne des contraintes",
    "bias of the constraints": "terme restant des contraintes",
    "The equations of motion are derived by the recursion of Newton and Euler.": "Les équations du mouvement sont "
    "obtenues par la récurrence de Newton et Euler.",
    "The equations of motion are derived in closed form, from products of exponentials.": (
        "Les équations du mouvement sont obtenues sous forme explicite, à partir de produits d'exponentielles."
    ),
    "The equations of motion are derived from the incidence matrix of the kinematic graph.": (
        "Les équations du mouvement sont obtenues à partir de la matrice d'incidence du graphe cinématique."
    ),
    "The equations of motion are derived by the principle of d'Alembert.": (
        "Les équations du mouvement sont obtenues par le principe de d'Alembert."
    ),
    "The equations of motion are derived by Lagrange's equations in quasicoordinates.": (
        "Les équations du mouvement sont obtenues par les équations de Lagrange en quasi-coordonnées."
    ),
    "The equations of motion are derived by Lagrange's equations.": (
        "Les équations du mouvement sont obtenues par les équations de Lagrange."
    ),
    "Closed chains are cut at a joint each: M and h are those of the open tree, and the multipliers λ are the "
    "forces that keep the cuts closed.": "Chaque chaîne fermée est coupée à une liaison : M et h sont ceux de l’arbre "
    "ouvert, et les multiplicateurs λ sont les forces qui maintiennent les coupures fermées.",
    "Couplings of joints are constraints: M and h are those of the robot without them, and the multipliers λ are their "
    "forces.": "Les couplages de liaisons sont des contraintes : M et h sont ceux du robot sans couplage, et les "
    "multiplicateurs λ sont leurs forces.",
    "The generalized forces τ are those of the elements, and of the inputs.": "Les forces généralisées τ sont celles "
    "des éléments et des entrées.",
}
