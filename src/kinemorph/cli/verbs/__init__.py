"""One function per verb: it parses, calls and prints.

model_files   info, export, new
check         check
derived       derive, verify, doctor, demo, bench
simulate      simulate
show          show
analyze       analyze
assemble      assemble
gait          gait
"""

from kinemorph.cli.verbs import analyze, assemble, check, derived, gait, model_files, show, simulate

__all__ = ["analyze", "assemble", "check", "derived", "gait", "model_files", "show", "simulate"]
