# Two commands do everything on a machine that has Python 3.11+ and make:
#   make demo   nine modules dock, are derived and verified, and crawl; pictures, tables and a replay in out/
#   make test   style, types, import rules and the default test suite
# Another interpreter: make demo PYTHON=python3.12

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Bytecode is kept even where the environment says not to: two workers and dozens of child processes import the same.
export PYTHONDONTWRITEBYTECODE :=

# One thread per numerical library: the test runner already uses two processes.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
# Errors only; both names are set so that the build backend is pinned with old and new versions of pip.
PIP    := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
          $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test slow clean browser

help:
	@echo "make demo   set up .venv, derive and verify nine docked modules, let them crawl, write out/"
	@echo "make test   set up .venv, then ruff, mypy, import-linter and the default tests"
	@echo "make slow   set up .venv, then the long sweeps (tests marked slow)"
	@echo "make clean  remove .venv, out/ and the caches"

demo: $(VENV)/installed
	$(BIN)/kinemorph demo

# While one core checks types, the other collects the tests once, so that both workers find them compiled; what is wrong
# in them is told by the run that follows.
test: $(VENV)/installed-dev browser
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy & types=$$!; \
	  $(BIN)/lint-imports && { $(PYTEST) -qq --collect-only >/dev/null 2>&1; wait $$types; }
	$(PYTEST) -n 2
	@echo "make test: passed (ruff, mypy, import-linter, pytest)"

slow: $(VENV)/installed-dev browser
	$(PYTEST) -n 2 -m slow
	@echo "make slow: passed"

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
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: set-up runs again only when what it reads has changed.
$(VENV)/made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Python %d.%d found, 3.11 or newer needed. Name one: make PYTHON=python3.12" % v[:2])'
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml constraints.txt
	@echo "installing kinemorph into $(VENV)"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/made pyproject.toml constraints.txt
	@echo "installing kinemorph and its test tools into $(VENV)"
	@$(PIP) install --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/installed
