"""A report: a model, its equations, a run and all checks as a document, in English and in French.

    python examples/45_report.py [folder]

The double pendulum swings for five seconds. The report of this run is written as PDF in both languages, as one HTML
page, and as LaTeX source; a picture shows some of its pages. PDF needs `pip install 'kinemorph[report]'`.
"""

import io
import sys
from pathlib import Path

import matplotlib.image
import numpy as np

import kinemorph
from kinemorph.display.canvas import blank, save
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.report import make_document
from kinemorph.display.reports.subject import subject_of
from kinemorph.display.reports.writers.typst import pages

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "45_report"
robot = kinemorph.library.double_pendulum()
run = kinemorph.simulate(robot, 5.0, q=[1.2, 0.4])

# the same report in two languages and three formats; without a date, the same run gives the same bytes every time
for language in ("en", "fr"):
    path = kinemorph.report(robot, run, path=folder / f"swing_{language}.pdf", language=language, names=["swing"])
    print("wrote", path)
print("wrote", kinemorph.report(robot, run, path=folder / "swing.html"))
chosen = ["description", "equations", "curves"]
print("wrote", kinemorph.report(robot, run, path=folder / "swing.zip", language="fr", chapters=chosen))

# some pages: a document is data, which writers turn into files
picture = blank(12.0, 8.6, 100.0)
for row, language in enumerate(("en", "fr")):
    words = Words(language)
    document = make_document(subject_of(robot, run, names=["swing"]), words, [*chosen, "energy_audit"])
    print(f"{language}: {document.title}, sections {', '.join(section.title for section in document.sections)}")
    drawn = [matplotlib.image.imread(io.BytesIO(page)) for page in pages(document, words, 60.0)]
    for k, page in enumerate((drawn[0], *drawn[2:5])):
        axes = picture.add_axes((0.005 + 0.25 * k, 0.505 - 0.5 * row, 0.24, 0.49))
        axes.imshow(np.asarray(page))
        axes.tick_params(length=0, labelbottom=False, labelleft=False)
        axes.spines[:].set_color("#c9d0d8")
print("wrote", save(picture, folder.parent / "45_report.png"))
