"""Texts of the chapters about equilibrium, poles, curves and the energy audit."""

from __future__ import annotations

TEXTS = {
    # equilibrium
    "Equilibrium": "Équilibre",
    "The search began at the initial state of the model.": "La recherche part de l'état initial du modèle.",
    "No equilibrium can be searched for. The program says: ": (
        "La recherche d'un équilibre n'est pas possible. Message du programme : "
    ),
    "Coordinates at the equilibrium": "Coordonnées à l'équilibre",
    "coordinate": "coordonnée",
    "No equilibrium was found.": "Aucun équilibre n'a été trouvé.",
    "An equilibrium was found: {word}.": "Un équilibre a été trouvé : {word}.",
    "Where the search ended": "Où la recherche s'est terminée",
    "stable": "stable",
    "not stable": "instable",
    "not decided by linear equations": "les équations linéarisées ne permettent pas de conclure",
    "because": "car",
    "unbalanced force": "effort non équilibré",
    "iterations": "itérations",
    "nothing can move.": "rien ne peut bouger.",
    "a disturbance, mostly of {a}, grows by a factor e in {b} s.": (
        "une perturbation, surtout de {a}, croît d'un facteur e en {b} s."
    ),
    "no force opposes a displacement in one direction, mostly of {a}.": (
        "aucun effort ne s'oppose à un déplacement dans une direction, surtout de {a}."
    ),
    "every disturbance dies away, the slowest by a factor e in {a} s.": (
        "toute perturbation s'amortit, la plus lente d'un facteur e en {a} s."
    ),
    "it is a minimum of potential energy; small oscillations stay small but do not all die away.": (
        "c'est un minimum de l'énergie potentielle ; les petites oscillations restent petites mais ne s'amortissent "
        "pas toutes."
    ),
    "some oscillations neither grow nor die away in linear equations.": (
        "certaines oscillations ne s'amplifient ni ne s'amortissent selon les équations linéarisées."
    ),
    "{robot} at rest": "{robot} au repos",
    "Sampled controllers take no part in it, because their outputs are held between samples: {names}.": (
        "Les régulateurs échantillonnés n'y participent pas, car leurs sorties sont maintenues entre les "
        "échantillons : {names}."
    ),
    "The search ignores limits of joints. Beyond theirs are: {names}.": (
        "La recherche ne tient pas compte des butées. Liaisons au-delà de leurs butées : {names}."
    ),
    # poles
    "Poles": "Pôles",
    "pole": "pôle",
    "real part": "partie réelle",
    "imaginary part": "partie imaginaire",
    "frequency": "fréquence",
    "modal mass": "masse modale",
    "{n} more row is not listed.": "{n} autre ligne n'est pas indiquée.",
    "{n} more rows are not listed.": "{n} autres lignes ne sont pas indiquées.",
    "Linearized about {state}.": "Linéarisé autour de {state}.",
    "the equilibrium": "l'équilibre",
    "the initial state, as no equilibrium was found": "l'état initial, car aucun équilibre n'a été trouvé",
    "{n} of {m} poles grows: unstable.": "{n} des {m} pôles s'amplifie : instable.",
    "{n} of {m} poles grow: unstable.": "{n} des {m} pôles s'amplifient : instable.",
    "the given state": "l'état donné",
    "the initial state": "l'état initial",
    "the equilibrium at {where}": "l'équilibre {where}",
    "the steady motion of the initial state": "le mouvement permanent de l'état initial",
    "No pole grows.": "Aucun pôle ne s'amplifie.",
    "damping ratio": "taux d'amortissement",
    "Poles; of conjugate pairs the upper one": "Pôles ; un seul par paire de conjugués",
    "Poles in the complex plane, with lines of constant damping ratio and of constant frequency.": (
        "Pôles dans le plan complexe, avec les lignes d'égal taux d'amortissement et d'égale fréquence."
    ),
    "The poles cannot be computed. The program says: ": (
        "Les pôles ne peuvent pas être calculés. Message du programme : "
    ),
    # curves
    "Curves": "Courbes",
    "Run {name}": "Simulation {name}",
    "The run lasts from {start} to {end} s, by the method {method}, in {steps} steps; {samples} samples are kept.": (
        "La simulation va de {start} à {end} s, par la méthode {method}, en {steps} pas ; {samples} échantillons sont "
        "conservés."
    ),
    "It was stopped by an event.": "Un événement l'a arrêtée.",
    "It ended because the system came to rest.": "Elle s'est terminée parce que le système est au repos.",
    "The run failed at {t} s of {until} s; the curves end there.": (
        "La simulation a échoué à {t} s sur {until} s ; les courbes s'arrêtent là."
    ),
    "The program says: ": "Message du programme : ",
    "These stay constant and are not drawn: {names}.": "Restent constantes et ne sont pas tracées : {names}.",
    "Zero throughout, to rounding: {names}.": "Nulles tout du long, aux arrondis près : {names}.",
    "Accelerations a over time.": "Accélérations a en fonction du temps.",
    "Inputs u over time.": "Entrées u en fonction du temps.",
    "Voltages and currents over time.": "Tensions et courants en fonction du temps.",
    "Forces and moments that the bearings of joints bear, as sizes over time.": (
        "Forces et moments transmis par les paliers des liaisons (normes) en fonction du temps."
    ),
    "It was interrupted.": "Elle a été interrompue.",
    "It is not finished.": "Elle n'est pas terminée.",
    "Coordinates q over time.": "Coordonnées généralisées q en fonction du temps.",
    "Columns that were asked for, over time.": "Colonnes demandées, en fonction du temps.",
    "Velocities v over time.": "Vitesses généralisées v en fonction du temps.",
    "Generalized forces tau over time.": "Efforts généralisés tau en fonction du temps.",
    "States of elements over time.": "États des éléments en fonction du temps.",
    "Forces of contacts and other elements over time.": (
        "Efforts des contacts et d'autres éléments en fonction du temps."
    ),
    "Events": "Événements",
    "t [s]": "t [s]",
    "event": "événement",
    "{n} more events are not listed.": "{n} autres événements ne sont pas indiqués.",
    "{n} more runs are not shown.": "{n} autres simulations ne sont pas présentées.",
    # audit
    "Energy audit": "Bilan d'énergie",
    "The sum of kinetic and potential energy, less the energy that drives supply, plus the energy that is dissipated, "
    "is constant between impacts. The audit checks this and other laws of conservation.": (
        "La somme des énergies cinétique et potentielle, moins l'énergie fournie par les actionneurs, plus l'énergie "
        "dissipée, est constante entre deux chocs. Le contrôle porte sur ce bilan et sur d'autres lois de conservation."
    ),
    "Energies over time, and the error of their balance.": "Énergies en fonction du temps et erreur de leur bilan.",
    "Audit of run {name}": "Contrôle de la simulation {name}",
    "law": "loi",
    "The run cannot be audited. The program says: ": (
        "La simulation ne peut pas être contrôlée. Message du programme : "
    ),
    "Energy and momentum are judged by a relative tolerance of {a}, from rtol {b} in each of {c} steps.": (
        "L'énergie et la quantité de mouvement sont jugées à la tolérance relative {a}, soit rtol {b} à chacun des {c} "
        "pas."
    ),
    "Energy and momentum are judged by a relative tolerance of {a}, from a step of {b} s, of order {c}, in a motion "
    "that changes at a rate of {d} {e}/s.": (
        "L'énergie et la quantité de mouvement sont jugées à la tolérance relative {a}, celle d'un pas de {b} s et "
        "d'ordre {c} pour un mouvement qui change au rythme de {d} {e}/s."
    ),
    "Energy and momentum are judged by a relative tolerance of {a}, from a method whose error is not known.": (
        "L'énergie et la quantité de mouvement sont jugées à la tolérance relative {a}, car l'erreur de la méthode "
        "n'est pas connue."
    ),
    "ending": "fin",
    "the run ended as requested": "la simulation s'est terminée comme demandé",
    "finite": "nombres finis",
    "every sample is a finite number": "chaque échantillon est un nombre fini",
    "kinetic + potential - supplied + dissipated energy is constant": (
        "énergie cinétique + potentielle − fournie + dissipée est constante"
    ),
    "the plant is made of equations, not of a robot: it has no energy": (
        "le système est fait d'équations et non d'un robot : il n'a pas d'énergie"
    ),
    "the energy that forces supply and dissipate was not recorded. Make the plant with account=True": (
        "l'énergie fournie et dissipée par les efforts n'a pas été enregistrée"
    ),
    "momentum is conserved": "la quantité de mouvement est conservée",
    "the robot of the run is not known": "le robot de la simulation n'est pas connu",
    "the plant is made of equations, not of a robot": "le système est fait d'équations et non d'un robot",
    "momentum of {a}": "quantité de mouvement de {a}",
    "momentum about {a}": "moment cinétique autour de {a}",
    "linear momentum": "quantité de mouvement",
    "angular momentum": "moment cinétique",
    "angular momentum, origin": "moment cinétique, origine",
    "the momentum along {a} is constant, as no force acts along it": (
        "la quantité de mouvement selon {a} est constante, car aucun effort n'agit dans cette direction"
    ),
    "the component along gravity of the angular momentum about the ball joint is constant": (
        "la composante selon la pesanteur du moment cinétique autour de la rotule est constante"
    ),
    "loops to the ground or coupled joints act on the robot from outside": (
        "des boucles vers le sol ou des liaisons couplées agissent sur le robot de l'extérieur"
    ),
    "constraints of elements, such as rolling wheels, act on the robot": (
        "des contraintes d'éléments, comme des roues, agissent sur le robot"
    ),
    "a force acts from outside along {a}": "un effort extérieur agit selon {a}",
    "the ground, gravity or a force acts along the first joint of every tree": (
        "le sol, la pesanteur ou un effort agit selon la première liaison de chaque arbre"
    ),
    "changes of the system": "changements du système",
    "linear and angular momentum are the same just before and after": (
        "quantité de mouvement et moment cinétique sont les mêmes juste avant et juste après"
    ),
    "one of the systems is connected to the ground or has no robot": (
        "l'un des systèmes est relié au sol ou n'a pas de robot"
    ),
    "quaternions": "quaternions",
    "every quaternion has length 1": "chaque quaternion est de longueur 1",
    "every quaternion has length {a}": "chaque quaternion est de longueur {a}",
    "the robot has no quaternions": "le robot n'a pas de quaternion",
    "loops": "boucles",
    "loops stay closed and coupled joints follow their leaders [m or rad]": (
        "les boucles restent fermées et les liaisons couplées suivent leurs meneuses [m ou rad]"
    ),
    "the robot has no loops or coupled joints": "le robot n'a ni boucle ni liaison couplée",
    "linear momentum grows by m g t": "la quantité de mouvement croît de m g t",
    "linear momentum is constant": "la quantité de mouvement est constante",
    "angular momentum about the center of mass is constant": (
        "le moment cinétique autour du centre de masse est constant"
    ),
    "angular momentum about the world's origin is constant": (
        "le moment cinétique autour de l'origine du repère global est constant"
    ),
    "the component along gravity of the angular momentum about the world's origin is constant": (
        "la composante selon la pesanteur du moment cinétique autour de l'origine du repère global est constante"
    ),
}
