"""Sentences of runs that failed: each message is one or more of them (`sentences.translated`)."""

from __future__ import annotations

AT = "At t = {a} s "
EN = "À t = {a} s, "
RATES = ("rad/s", "m/s")
CAUSE = "masse singulière, ou une loi y divise par zéro"

TEXTS = {
    # the motion diverges
    **{
        f"{AT}v {{b}} is {{c}} {unit}: the motion diverges.": f"{EN}v {{b}} vaut {{c}} {unit} : le mouvement diverge."
        for unit in RATES
    },
    "Check the gains, forces and sample times that act there.": (
        "Vérifiez les gains, les efforts et les périodes d'échantillonnage qui y agissent."
    ),
    "Or check the gains, forces and sample times that act there.": (
        "Ou vérifiez les gains, les efforts et les périodes d'échantillonnage qui y agissent."
    ),
    "The step of {a} s is too large: try step={b}.": "Le pas de {a} s est trop grand : essayez step={b}.",
    "The step of {a} s is too large: try step={b}, or method={c} without step.": (
        "Le pas de {a} s est trop grand : essayez step={b}, ou method={c} sans step."
    ),
    "Gains may be too large for the sample time of {a} s: sample more often (every=) or lower them.": (
        "Les gains sont peut-être trop grands pour la période d'échantillonnage de {a} s : échantillonnez plus souvent "
        "(every=) ou diminuez-les."
    ),
    "If they are not, try step={a}.": "Sinon, essayez step={a}.",
    "If they are not, try step={a}, or method={b} without step.": "Sinon, essayez step={a}, ou method={b} sans step.",
    "Check the forces there.": "Vérifiez les efforts à cet endroit.",
    **{
        f"{AT}the rate of {kind} {{b}} is not finite: the mass matrix may be singular there, or a law divides by "
        "zero.": f"{EN}la dérivée de {kind} {{b}} n'est pas finie : la matrice de {CAUSE}."
        for kind in "qvx"
    },
    "Give every moving body inertia, or choose another initial state.": (
        "Donnez une inertie à chaque corps mobile, ou choisissez un autre état initial."
    ),
    **{
        f"{AT}the next state is not finite; {kind} {{b}} changes fastest.": (
            f"{EN}l'état suivant n'est pas fini ; {kind} {{b}} varie le plus vite."
        )
        for kind in "qvx"
    },
    **{
        f"{AT}{kind} {{b}} has grown to {{c}} and grows ever faster: the motion becomes infinite in finite time.": (
            f"{EN}{kind} {{b}} a atteint {{c}} et croît de plus en plus vite : le mouvement devient infini en un temps "
            "fini."
        )
        for kind in "qvx"
    },
    "Check the forces that drive it, or end the run earlier.": (
        "Vérifiez les efforts qui l'entraînent, ou arrêtez la simulation plus tôt."
    ),
    # steps
    **{
        f"{AT}steps became shorter than {{b}} s; {kind} {{c}} changes fastest.": (
            f"{EN}les pas sont devenus plus courts que {{b}} s ; {kind} {{c}} varie le plus vite."
        )
        for kind in "qvx"
    },
    "The motion is too stiff for this method, or not smooth.": (
        "Le mouvement est trop raide pour cette méthode, ou n'est pas régulier."
    ),
    "Try method={a}, which is for stiff systems, or looser tolerances.": (
        "Essayez method={a}, pour les systèmes raides, ou des tolérances plus larges."
    ),
    "Take looser tolerances (rtol=, atol=), or make stiff springs, gains and contacts softer.": (
        "Prenez des tolérances plus larges (rtol=, atol=), ou adoucissez les ressorts, gains et contacts raides."
    ),
    "If a force or a velocity jumps, describe the jump by a Guard (events=).": (
        "Si un effort ou une vitesse saute, décrivez ce saut par une Guard (events=)."
    ),
    **{
        f"{AT}the equations of a step of method {{b}} could not be solved; {kind} {{c}} changes fastest.": (
            f"{EN}les équations d'un pas de la méthode {{b}} n'ont pas pu être résolues ; {kind} {{c}} varie le plus "
            "vite."
        )
        for kind in "qvx"
    },
    "Try a smaller step, or another method.": "Essayez un pas plus petit, ou une autre méthode.",
    # constraints and impacts
    **{
        f"{AT}a step could not be brought back onto the constraints; {kind} {{b}} changes fastest.": (
            f"{EN}un pas n'a pas pu être ramené sur les contraintes ; {kind} {{b}} varie le plus vite."
        )
        for kind in "qvx"
    },
    "The mechanism may be at a singular configuration, or at the end of its reach.": (
        "Le mécanisme est peut-être dans une configuration singulière, ou en limite de portée."
    ),
    "Try tighter tolerances, or another initial state; kinemorph.loops.mobility shows how singular a configuration "
    "is.": (
        "Essayez des tolérances plus serrées, ou un autre état initial ; kinemorph.loops.mobility montre à quel point "
        "une configuration est singulière."
    ),
    "At t = {a} s an event led to a state that breaks constraints.": (
        "À t = {a} s, un événement a mené à un état qui viole des contraintes."
    ),
    "At t = {a} s the impulses of the contacts that touch at once were not found; for some laws there may be none.": (
        "À t = {a} s, les impulsions des contacts simultanés n'ont pas été trouvées ; pour certaines lois il n'en "
        "existe peut-être pas."
    ),
}
