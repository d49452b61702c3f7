# Two commands do everything on a machine that has Python 3.11+ and make:
#   make demo   nine modules dock, are derived and verified, and crawl; pictures, tables and a replay in out/
#   make test   style, types, import rules and the default test suite
# Another interpreter: make demo PYTHON=python3.12

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PINNED := constraints.txt

# Bytecode is kept even where the environment says not to: two workers and dozens of child processes import the same.
export PYTHONDONTWRITEBYTECODE :=

# One thread per numerical library: the test runner already uses two processes.
# Warnings of tests are counted and not listed, so that failures are what is read last.
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --disable-warnings
# Errors only; both names are set so that the build backend is pinned with old and new versions of pip.
PIP    := PIP_CONSTRAINT=$(PINNED) PIP_BUILD_CONSTRAINT=$(PINNED) \
          $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test suite slow newest oldest clean browser

# The long sweeps in parts.
PARTS      := mechanics simulation analysis files programs studies studio faces
mechanics  := tests/mechanics
simulation := tests/simulation
analysis   := tests/analysis
files      := tests/formats tests/fuzzing tests/model tests/algebra
programs   := tests/programs
studies    := tests/studies
studio     := tests/studio
faces      := tests/codegen tests/bench tests/cli tests/display $(wildcard tests/test_*.py)
PART       ?= $(PARTS)

help:
	@echo "make demo   set up .venv, derive and verify nine docked modules, let them crawl, write out/"
	@echo "make test   set up .venv, then ruff, mypy, import-linter and the default tests"
	@echo "make slow   set up .venv, then the long sweeps (tests marked slow); one part of them, less than an hour:"
	@for part in $(PARTS); do echo "            make slow PART=$$part"; done
	@echo "make newest the default tests with the newest versions of all dependencies, in .venv-newest"
	@echo "make oldest the default tests with the oldest versions that pyproject.toml admits, in .venv-oldest"
	@echo "make clean  remove the environments, out/ and the caches"
	@echo "Another interpreter, for an environment that is not made yet: make newest PYTHON=python3.13"

demo: $(VENV)/installed
	$(BIN)/kinemorph demo

# In a first run one core checks types while the other collects the tests once, so that both workers find them compiled;
# what is wrong in them is reported by the run that follows.
test: $(VENV)/installed-dev browser
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy & types=$$!; \
	  $(BIN)/lint-imports && { [ -d .cache/tests ] || $(PYTEST) -qq --collect-only >/dev/null 2>&1; wait $$types; }
	$(PYTEST)
	@echo "make test: passed (ruff, mypy, import-linter, pytest)"

suite: $(VENV)/installed-dev browser
	$(PYTEST)
	@$(BIN)/python -c 'import platform, numpy; print("passed with Python", platform.python_version(), "and NumPy", numpy.__version__)'

slow: $(VENV)/installed-dev browser
	$(if $(filter-out $(PARTS),$(PART)),$(error PART=$(PART): the parts are $(PARTS)))
	@for part in $(foreach part,$(PART),'$($(part))'); do echo "$$part"; $(PYTEST) -m slow $$part || exit; done
	@echo "make slow: passed ($(PART))"

newest:
	@rm -f .venv-newest/installed-dev
	PIP_UPGRADE=1 PIP_UPGRADE_STRATEGY=eager $(MAKE) --no-print-directory suite VENV=.venv-newest PINNED=/dev/null

oldest:
	@mkdir -p out
	$(PYTHON) tests/support/tools/oldest_versions.py > out/oldest_versions.txt
	$(MAKE) --no-print-directory suite VENV=.venv-oldest PINNED=out/oldest_versions.txt

# It gives up where nobody answers, or where another installation is under way.
APT := apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=60

# Some tests look at pages in Chromium. Where there is none, it is installed if that is certain to be welcome: on a
# Debian-like machine, by root (a container, as a rule). Elsewhere one line says how to get it, and those tests are
# skipped. Whatever happens here, the build goes on.
browser: $(VENV)/installed-dev
	@advice=$$($(BIN)/python -m kinemorph.bench.peers.chromium 2>/dev/null) && exit 0; \
	if [ -e /etc/debian_version ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium for the tests of pages"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  $(APT) update </dev/null >/dev/null 2>&1; \
	  $(APT) install -y --no-install-recommends chromium </dev/null >/dev/null 2>&1; \
	  advice=$$($(BIN)/python -m kinemorph.bench.peers.chromium 2>/dev/null) && exit 0; \
	fi; \
	echo "tests of pages will be skipped: $${advice:-no Chromium is found}"

clean:
	rm -rf .venv .venv-newest .venv-oldest out build dist .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: set-up runs again only when what it reads has changed.
$(VENV)/made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Python %d.%d found, 3.11 or newer needed. Name one: make PYTHON=python3.12" % v[:2])'
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml $(PINNED)
	@echo "installing kinemorph into $(VENV)"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/made pyproject.toml $(PINNED)
	@echo "installing kinemorph and its test tools into $(VENV)"
	@$(PIP) install --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/installed
