# `make help` lists the targets. With a stamp the second `make up` installs nothing.
SHELL := /bin/bash
.DEFAULT_GOAL := help

STACK ?= dev
NAME ?=
BACKEND ?=
PLAN ?=
BASE ?=
OUT ?= out
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
REQUIREMENTS := requirements.txt requirements/sim.txt
DEV_REQUIREMENTS := requirements/dev.txt
PIP = $(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes
PIP_FAILED = { echo "the Python packages were not installed (see above): is the package index reachable (PIP_INDEX_URL), and has the disk 1 GB free? The same command goes on from here"; exit 1; }
RUN := $(VENV)/bin/python
CHOICE := --stack $(STACK) $(if $(NAME),--name $(NAME))
# Tests start Python some thousand times; without compiled modules each start compiles all of it again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(RUN) -m pytest -q --tb=short --durations=10
STACKS ?= $(patsubst Pulumi.%.yaml,%,$(wildcard Pulumi.*.yaml))

.PHONY: gpus gpusettings help packages venv up status down clean distclean test unit slow engine cluster browser chromium debian check format docs lock bench contract record golden \
	policies diff comment kubeconfig drift dates workflows

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  parameters: STACK=$(STACK), STACKS=<all>, NAME=<simulated cluster>, BACKEND=s3|<URL>, PLAN=<file>, BASE=<commit>, OUT=$(OUT), PYTHON=$(PYTHON)"

packages: $(STAMP) ## create the virtual environment, without the tools of developers

venv: $(DEV_STAMP) ## create the virtual environment, with the tools of developers

$(STAMP): $(REQUIREMENTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "$(PYTHON) is missing or older than 3.11; set PYTHON to a newer one, e.g. make up PYTHON=python3.11"; exit 1; }
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "no virtual environment was made; Debian and Ubuntu have venv in the package python3-venv"; exit 1; }
	@echo "- installing the Python packages ..."
	@$(if $(AHEAD),$(AHEAD) & ahead=$$!; trap 'kill $$ahead 2>/dev/null; wait $$ahead' EXIT;) $(PIP) $(REQUIREMENTS:%=-r %) || $(PIP_FAILED)
	@touch $@

$(DEV_STAMP): $(STAMP) $(DEV_REQUIREMENTS)
	@echo "- installing the tools of developers and tests ..."
	@$(PIP) $(DEV_REQUIREMENTS:%=-r %) || $(PIP_FAILED)
	@touch $@

# The first `make up` begins with the tools of its cluster while the packages are downloaded.
up: AHEAD = $(if $(filter dev,$(STACK)),$(PYTHON) -m toolkit.engine.tools --ahead)
up: $(STAMP) ## build what is missing, start the simulated cluster, run pulumi up, show the jobs
	@./hpc up $(CHOICE) $(if $(PLAN),--plan $(PLAN)) $(if $(BACKEND),--backend '$(BACKEND)')

status: $(STAMP) ## show the platform, its tenants, nodes and jobs
	@./hpc status $(CHOICE)

down: $(STAMP) ## stop the simulated cluster; data and Pulumi state stay
	@./hpc sim down $(CHOICE)

clean: ## stop the simulated clusters and remove them, the virtual environment and caches of this checkout
	@if [ -x $(RUN) ]; then ./hpc sim clean --all $(BUILT); fi
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: BUILT := --built
distclean: clean ## remove also the tools that were built, which all checkouts of a user share

test: unit slow ## run every test

unit: $(DEV_STAMP) debian ## run the tests that need neither engine nor cluster
	@$(PYTEST) -n 2 --dist worksteal -m unit

engine: $(DEV_STAMP) debian ## run the tests with the real engine, and with programs that take long
	@$(PYTEST) -n 2 --dist loadfile -m engine

# Together, as each alone leaves a worker idle at its end; three on two cores, as tests of the cluster wait for controllers.
slow: $(DEV_STAMP) debian chromium ## run the tests of the layers engine, cluster and browser
	@$(PYTEST) -n 3 --dist loadfile -m "engine or cluster or browser"

cluster: $(DEV_STAMP) debian ## run the tests on the simulated cluster
	@$(PYTEST) -n 3 --dist loadfile -m cluster

contract: $(DEV_STAMP) ## compare the plugins in use with what the official ones did
	@$(PYTEST) -n 2 --dist loadfile tests/contract

record: $(DEV_STAMP) ## record the contracts from the official plugins, and refuse others, and from the GPU Operator
	@$(RUN) -m tests.contract.provider.record
	@$(RUN) -m tests.contract.language.record
	@$(RUN) -m tests.contract.gpu_operator.record

golden: $(DEV_STAMP) ## write the golden manifests below tests/ from the code; review their difference before you commit it
	@$(PYTEST) --update-golden tests/stacks/test_golden.py tests/components/test_golden.py

browser: $(DEV_STAMP) chromium ## run the tests that open reports in Chromium
	@$(PYTEST) -m browser

# Only root installs packages; for others the tests are skipped, with a message.
chromium:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "- installing Chromium ..." && \
		export DEBIAN_FRONTEND=noninteractive && apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || echo "- no Chromium; install it to run these tests"

debian: $(DEV_STAMP) ## unpack the programs of Debian that tests run on written files, without root
	@$(RUN) -m tests.support.debian

check: $(DEV_STAMP) ## lint, formatting and types
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy .

policies: export HPC_STACKS = $(STACKS)
policies: $(STAMP) ## check every stack against the policies, without engine or cluster; reports below OUT
	@mkdir -p $(OUT); status=0; for stack in $$HPC_STACKS; do \
		echo "- stack $$stack"; \
		./hpc check --stack $$stack || status=1; \
		./hpc check --stack $$stack --format sarif > $(OUT)/$$stack.sarif || true; \
		./hpc check --stack $$stack --format junit > $(OUT)/$$stack.policies.xml || true; \
	done; exit $$status

diff: $(STAMP) ## review what an update would change, as a comment below OUT; with BASE=<commit> without the cluster
	@mkdir -p $(OUT)
	@./hpc diff --stack $(STACK) $(if $(NAME),--name $(NAME)) $(if $(BASE),--base "$(BASE)") $(if $(PLAN),--plan "$(PLAN)") -o $(OUT)/$(STACK).md

comment: $(STAMP) ## post what `make diff` wrote on the pull request of a CI job
	@./hpc ci comment $(OUT)/$(STACK).md

kubeconfig: $(STAMP) ## write HPC_KUBECONFIG, a secret of the CI job, where the stack's settings expect it
	@./hpc ci kubeconfig --stack $(STACK)

drift: $(STAMP) ## report what on the cluster differs from the program; fails on drift
	@mkdir -p $(OUT)
	@./hpc drift $(CHOICE) -o $(OUT)/$(STACK).drift.md

dates: $(DEV_STAMP) ## fail by what ends soon: support of OpenShift releases, exceptions to policies; tests only warn of it
	@$(RUN) -m tests.support.renewals

workflows: $(DEV_STAMP) ## check the files of .github, .ci/gitlab.yml and .github/renovate.json
	@"$$($(RUN) -m toolkit.engine.tools actionlint)" -color
	@$(VENV)/bin/zizmor --offline --no-progress --quiet .github
	@$(VENV)/bin/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci .ci/gitlab.yml
	@$(VENV)/bin/check-jsonschema --builtin-schema vendor.renovate .github/renovate.json

format: $(DEV_STAMP) ## format the Python files
	@$(VENV)/bin/ruff format .

docs: $(DEV_STAMP) ## generate the pages of rules, components, settings, sources, coverage and the performance model
	@$(RUN) -m policies.docs
	@$(RUN) -m toolkit.render.reference
	@$(RUN) -m toolkit.simulator.performance.fit

lock: $(DEV_STAMP) ## compile the requirement files from requirements/*.in
	@for file in $(REQUIREMENTS) $(DEV_REQUIREMENTS); do \
		source=$${file%.txt}.in; test $$file = requirements.txt && source=requirements/base.in; \
		$(VENV)/bin/uv pip compile --quiet --python-version=3.11 --universal --generate-hashes \
			$$source --output-file=$$file || exit 1; done

gpus: $(DEV_STAMP) ## on a host with NVIDIA GPUs: run what pods of the GPU programs would, and judge the logs; logs below OUT
	@$(RUN) -m bench.gpus -o $(OUT)/gpus

gpusettings: $(DEV_STAMP) ## on such a host: compare the pods' NCCL settings with NCCL's defaults and a grid of others
	@$(RUN) -m bench.gpu_settings -o $(OUT)/gpu-settings

bench: $(DEV_STAMP) ## run the benchmarks: start-up, policies, reading of logs, data sets, growth
	@$(RUN) -m bench.startup
	@$(RUN) -m bench.pack
	@$(RUN) -m bench.policies
	@$(RUN) -m bench.evidence
	@$(RUN) -m bench.datasets
	@$(RUN) -m bench.scale
