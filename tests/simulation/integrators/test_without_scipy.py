"""Our own methods need no SciPy: a process that cannot import it simulates, finds events, saves and reads."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "scipy":
            raise ImportError("SciPy is blocked here")

sys.meta_path.insert(0, Blocked())
try:
    import scipy
except ImportError:
    pass
else:
    raise SystemExit("SciPy could be imported")

import kinemorph
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.files.storage import load_trajectory

folder = sys.argv[1]
swing = kinemorph.library.double_pendulum()
for name in {type(method).__module__: name for name, method in METHODS.items()}.values():  # one of each family
    if name == "moreau":  # for rigid contacts only
        continue
    method = METHODS[name]
    guard = Guard("through", lambda q: q[0], "falling")
    run = simulate(swing, 0.8, q=[0.5, 0.2], method=name, step=None if method.adaptive else 0.01, events=[guard])
    assert run.outcome.kind == "finished" and len(run.events) == 1, (name, run.outcome, run.events)
path = folder + "/run.npz"
simulate(swing, 0.5, q=[0.5, 0.2], save=path)
assert len(load_trajectory(path).t) > 10
assert not any(name.split(".")[0] == "scipy" for name in sys.modules)
print("done")
"""


@pytest.mark.slow
def test_our_own_methods_run_with_scipy_blocked(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert found.returncode == 0, found.stderr[-2000:]
    assert found.stdout.startswith("done")
