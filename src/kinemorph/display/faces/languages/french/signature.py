"""Texts of the chapter about verification."""

from __future__ import annotations

TEXTS = {
    "Verification": "Vérification",
    "{passed} passed, {failed} failed, {skipped} skipped, of {n} checks.": (
        "{passed} réussis, {failed} échoués, {skipped} sans objet, sur {n} contrôles."
    ),
    "random states": "états aléatoires",
    "seed": "germe",
    "backend": "moteur de calcul",
    "Random states: {states}, seed {seed}.": "États aléatoires : {states}, germe {seed}.",
    "Laws of mechanics": "Lois de la mécanique",
    "Code beside the interpreter": "Code comparé à l'interpréteur",
    "Energy balance and other laws of the runs": "Bilan d'énergie et autres lois des simulations",
    "Formulations beside the recursion": "Formulations comparées à la récurrence de Newton et Euler",
    "Values of the model at random states": "Valeurs du modèle en des états aléatoires",
    "check": "contrôle",
    "verdict": "verdict",
    "worst": "pire",
    "tolerance": "tolérance",
    "what it says": "ce qu'il dit",
    "formulation": "formulation",
    "error": "erreur",
    "operations ID": "opérations ID",
    "operations FD": "opérations FD",
    "note": "remarque",
    "reference": "référence",
    "ID is inverse, FD forward dynamics.": "ID est la dynamique inverse, FD la dynamique directe.",
    "ID is inverse dynamics; operations of forward dynamics are counted for small robots only.": (
        "ID est la dynamique inverse ; les opérations de la dynamique directe ne sont comptées que pour de petits "
        "robots."
    ),
    "function": "fonction",
    "values": "valeurs",
    "root mean square": "moyenne quadratique",
    "what it is": "signification",
    "All values are in the attached verdict.": "Toutes les valeurs sont dans le verdict joint.",
    "SHA-256 of the model": "SHA-256 du modèle",
    "SHA-256 of the settings": "SHA-256 des réglages",
    "SHA-256 of the versions": "SHA-256 des versions",
    "versions": "versions",
    "The files {model} and {verdict} are attached to this report. The command ": (
        "Les fichiers {model} et {verdict} sont joints à ce rapport. La commande "
    ),
    " with the name of this report computes all rows again from the attached model and names those that no longer "
    "hold.": (
        ", avec le nom de ce rapport, recalcule toutes les lignes à partir du modèle joint et nomme celles qui ne sont "
        "plus vraies."
    ),
    "The attached model lacks parts that a file cannot express. The program says: ": (
        "Il manque au modèle joint des parties qu'un fichier ne peut pas exprimer. Message du programme : "
    ),
    "The model of this report.": "Le modèle de ce rapport.",
    "The verdict of this report.": "Le verdict de ce rapport.",
    # laws
    "poses as declared": "poses déclarées",
    "Bodies and frames are where the Robot's data put them.": (
        "Les corps et les repères sont là où les données du robot les placent."
    ),
    "mass as declared": "masse déclarée",
    "M is the sum of J^T I J over the Robot's bodies.": "M est la somme des J^T I J sur les corps du robot.",
    "energy as declared": "énergie déclarée",
    "T and V are the energies of the Robot's bodies.": "T et V sont les énergies des corps du robot.",
    "mass matrix symmetric": "matrice de masse symétrique",
    "M(q) equals its transpose.": "M(q) est égale à sa transposée.",
    "mass matrix positive definite": "matrice de masse définie positive",
    "M(q) has positive eigenvalues; the value is its condition number.": (
        "M(q) a des valeurs propres positives ; la valeur est son conditionnement."
    ),
    "inverse dynamics": "dynamique inverse",
    "ID(q, v, a) = M a + h.": "ID(q, v, a) = M a + h.",
    "forward dynamics": "dynamique directe",
    "FD(q, v, ID(q, v, a)) = a; with loops M a + h = tau + J^T lambda and J a = gamma. Errors over cond(M).": (
        "FD(q, v, ID(q, v, a)) = a ; avec des boucles M a + h = tau + J^T lambda et J a = gamma. Erreurs divisées par "
        "cond(M)."
    ),
    "derivatives": "dérivées",
    "d/dt ID = dID/dq v + dID/dv a along a motion, and the same for FD.": (
        "d/dt ID = dID/dq v + dID/dv a le long d'un mouvement, et de même pour FD."
    ),
    "outside wrenches": "torseurs extérieurs",
    "A wrench w at a frame lowers ID by J^T w.": "Un torseur w en un repère diminue ID de J^T w.",
    "links as written": "corps tels que déclarés",
    "Recursions on the links as declared give the same M and ID.": (
        "Les récurrences sur les corps tels que déclarés donnent les mêmes M et ID."
    ),
    "bias forces": "efforts h",
    "h(q, v) = C v + g.": "h(q, v) = C v + g.",
    "passivity": "passivité",
    "dM/dt - {a} C is skew-symmetric.": "dM/dt - {a} C est antisymétrique.",
    "kinetic energy": "énergie cinétique",
    "T = v . M v / {a}.": "T = v . M v / {a}.",
    "power balance": "bilan de puissance",
    "d/dt (T + V) = v . tau.": "d/dt (T + V) = v . tau.",
    "momentum": "quantité de mouvement",
    "Total mass times the velocity of the center of mass is the linear part of A_G v.": (
        "La masse totale multipliée par la vitesse du centre de masse est la partie linéaire de A_G v."
    ),
    "jacobian": "jacobienne",
    "J v is the twist of the frame, from its pose's rate of change.": (
        "J v est le torseur cinématique du repère, d'après la dérivée de sa pose."
    ),
    "jacobian rate": "dérivée de la jacobienne",
    "jacobian_rate is the time derivative of the Jacobian.": (
        "jacobian_rate est la dérivée de la jacobienne par rapport au temps."
    ),
    "Coriolis terms": "termes de Coriolis",
    "Nelson & Quinn's identity ({a}): Phid + Phi W~^T + Chat Psi~ Q^T = {b} at random points of all bodies.": (
        "Identité ({a}) de Nelson et Quinn : Phid + Phi W~^T + Chat Psi~ Q^T = {b} en des points aléatoires de tous "
        "les corps."
    ),
    "robot": "robot",
    "The robot moves.": "Le robot se meut.",
    "the robot has no movable joint.": "le robot n'a pas de liaison mobile.",
    # reasons why a law does not apply
    "the time moves joints: another rule holds.": "le temps meut des liaisons : une autre règle s'applique.",
    "the model was derived without outside wrenches, so this check does not apply.": (
        "le modèle a été établi sans torseurs extérieurs ; ce contrôle ne s'applique pas."
    ),
    "the robot has {a} degrees of freedom; this check compiles derivatives, which takes long, and is skipped for "
    "robots with more than {b}.": (
        "le robot a {a} degrés de liberté ; ce contrôle compile des dérivées, ce qui est long, et il est omis au-delà "
        "de {b}."
    ),
    "the robot has {a} degrees of freedom, and at most {b} are checked.": (
        "le robot a {a} degrés de liberté, et au plus {b} sont contrôlés."
    ),
    "left out: {a} degrees of freedom, more than {b}": "omise : {a} degrés de liberté, plus de {b}",
    # code
    "LLVM": "LLVM",
    "Every compiled function gives the numbers of the interpreter, for one state and for a batch.": (
        "Chaque fonction compilée donne les nombres de l'interpréteur, pour un état et pour une série d'états."
    ),
    "exported C": "C exporté",
    "Exported C code, compiled by the C compiler, gives M, h, ID and FD of the interpreter.": (
        "Le code C exporté, compilé par le compilateur C, donne M, h, ID et FD de l'interpréteur."
    ),
    "exported Python": "Python exporté",
    "Exported Python code, which needs only NumPy, gives M, h, ID and FD of the interpreter.": (
        "Le code Python exporté, qui n'a besoin que de NumPy, donne M, h, ID et FD de l'interpréteur."
    ),
    "not checked: this computer has no C compiler.": "non contrôlé : cet ordinateur n'a pas de compilateur C.",
    # values
    "M(q) times a vector": "M(q) fois un vecteur",
    "h(q, v)": "h(q, v)",
    "ID(q, v, a)": "ID(q, v, a)",
    "FD(q, v, tau)": "FD(q, v, tau)",
    "T(q, v) and V(q)": "T(q, v) et V(q)",
    "the center of mass": "le centre de masse",
    "rates of the system": "dérivées du système",
    "The rates of the state with all elements, near the initial state.": (
        "Les dérivées de l'état avec tous les éléments, près de l'état initial."
    ),
    "audit": "contrôle",
    "The run can be audited.": "La simulation peut être contrôlée.",
}
