# plaq: build, run, test, install. `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := build

CARGO ?= $(or $(shell command -v cargo),$(HOME)/.cargo/bin/cargo)
ifeq ($(origin CC),default)
CC := gcc
endif
MPICC ?= mpicc
MPIFC ?= mpifort
ifeq ($(origin FC),default)
FC := gfortran
endif
CFLAGS ?= -O2
FFLAGS ?= -O2
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share/plaq
QUDADIR ?= $(PREFIX)/quda
DESTDIR ?=

# Cargo profile of the library that programs are linked to and that tests test: release, dev or kit.
PROFILE ?= release
TARGET := $(or $(CARGO_TARGET_DIR),target)
BUILT := $(TARGET)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
WORK := build/$(PROFILE)$(if $(filter kit,$(PROFILE)),-work)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
MAJOR := $(firstword $(subst ., ,$(VERSION)))

# Every C and Fortran program of examples-c/; NAME.f90 becomes NAME_f. The one for many ranks needs MPI's compilers.
FOR_RANKS := 04_ranks
HAVE_MPI := $(if $(shell command -v $(MPICC)),yes)
MINE = $(filter-out $(if $(shell command -v $(1)),,$(FOR_RANKS)),$(patsubst examples-c/%$(2),%,$(wildcard examples-c/*$(2))))
C_PROGRAMS := $(addprefix $(WORK)/bin/,$(call MINE,$(MPICC),.c))
FORTRAN_MODULES := $(wildcard bindings/fortran/*.f90)
FORTRAN_PROGRAMS := $(if $(shell command -v $(FC)),$(patsubst %,$(WORK)/bin/%_f,$(call MINE,$(MPIFC),.f90)))
C_HEADERS := $(shell find include -name '*.h')
# What programs are linked to: they run with the C library of packaging/glibc.c, too.
GLIBC := $(WORK)/glibc.o
LINK = $(GLIBC) -Wl,--gc-sections -L$(WORK)/lib -lplaq -lm -ldl -Wl,-rpath,'$$ORIGIN/../lib'

# The job that `make demo` runs.
DEMO_GAUGE ?= $(firstword $(wildcard tests/data/*.ildg tests/data/*.lime tests/data/*.nersc tests/data/*.milc))
DEMO_ARGS ?= $(DEMO_GAUGE) --kappa 0.12 --csw 1.2 --boundary antiperiodic \
  --source point,0,0,0,0 --tol 1e-10 --device auto --json build/demo.json --plot build/demo.svg --overwrite yes

# Compilers that are set in the environment or on the command line go on to scripts and cargo by themselves; a default is
# not exported: cargo would compile anew what it compiled without one.
export CARGO

.PHONY: help build lib examples demo test install kit fmt lint doc clean
help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: $(WORK)/quda/lib/libquda.so $(WORK)/bin/plaq ## release library: target/release/libplaq.so and libplaq.a, the program build/release/bin/plaq; QUDA_HOME for MILC: build/release/quda

lib:
	$(CARGO) build --profile $(PROFILE)

MPI_LIBRARY := build/mpi/libplaq_mpi.so

.PHONY: mpi
mpi: $(MPI_LIBRARY) ## library for this machine's MPI, into build/mpi and beside libplaq; MPICC=
	@for folder in $(BUILT) $(WORK)/lib; do \
	  if [ -e $$folder/libplaq.so ]; then install -m 755 $< $$folder/; fi; done

$(MPI_LIBRARY): mpi/plaq_mpi.c
	@mkdir -p $(@D)
	$(MPICC) -std=c99 -Wall -Wextra $(CFLAGS) -fPIC -fvisibility=hidden -shared -o $@ $<

# The loader looks for the soname, the linker for the plain name.
$(WORK)/lib/libplaq.so: lib
	@mkdir -p $(WORK)/lib
	@for name in libplaq.so libplaq.so.$(MAJOR); do \
	  ln -sfn "$(abspath $(BUILT))/libplaq.so" $(WORK)/lib/$$name; done

# What MILC finds as QUDA_HOME.
$(WORK)/quda/lib/libquda.so: $(WORK)/lib/libplaq.so $(wildcard include/quda/*.h)
	@MAJOR=$(MAJOR) scripts/quda-home.sh $(WORK)/lib $(WORK)/quda

$(GLIBC): packaging/glibc.c
	@mkdir -p $(@D)
	$(CC) -std=c99 -Wall -Wextra -Werror -O2 -fPIC -ffunction-sections -c -o $@ $<

$(WORK)/bin/plaq: interface/src/app/main.c $(GLIBC) $(WORK)/lib/libplaq.so
	@mkdir -p $(@D)
	$(CC) -std=c99 -Wall -Wextra -Werror $(CFLAGS) -o $@ $< $(LINK)

examples: $(C_PROGRAMS) $(FORTRAN_PROGRAMS) $(WORK)/bin/plaq ## plaq and the examples in C and Fortran into build/PROFILE/bin

$(WORK)/bin/%: examples-c/%.c $(C_HEADERS) $(GLIBC) $(WORK)/lib/libplaq.so
	@mkdir -p $(@D)
	$(if $(filter $(FOR_RANKS),$*),$(MPICC),$(CC)) -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror $(CFLAGS) -Iinclude -o $@ $< $(LINK)

$(WORK)/fortran/modules.o: $(FORTRAN_MODULES)
	@mkdir -p $(@D)
	$(FC) -std=f2018 -Wall $(FFLAGS) -J$(@D) -c -o $@ $^

$(WORK)/bin/%_f: examples-c/%.f90 $(WORK)/fortran/modules.o $(GLIBC) $(WORK)/lib/libplaq.so
	@mkdir -p $(@D)
	$(if $(filter $(FOR_RANKS),$*),$(MPIFC),$(FC)) $(FFLAGS) -I$(WORK)/fortran -o $@ $< $(WORK)/fortran/modules.o \
	  -static-libgfortran $(LINK)

demo: ## install what is missing, build, print the correlators of a small configuration, draw build/demo.svg
	@scripts/setup.sh build
	@scripts/progress.sh $(MAKE) --no-print-directory $(WORK)/bin/plaq
	@mkdir -p build
	$(WORK)/bin/plaq propagator $(DEMO_ARGS)
	@echo "effective masses: build/demo.svg"

test: ## install what is missing, run every test
	@scripts/setup.sh build
	@PROFILE=$(PROFILE) scripts/test.sh

.PHONY: check
check: ## install what is missing, run the quick tests: three minutes on two cores
	@scripts/setup.sh test
	@PROFILE=$(PROFILE) scripts/test.sh check

FUZZ_SECONDS ?= 600
.PHONY: fuzz
fuzz: ## attack the C interface with random calls and damaged files: FUZZ_SECONDS= each, PLAQ_FUZZ_SEED=
	PLAQ_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --test host -- --show-output fuzz::

ifneq ($(wildcard benches/plaq.rs),)
.PHONY: bench
bench: ## kernels and solvers: a table and JSON lines; options in ARGS=
	$(CARGO) bench --bench plaq -- $(ARGS)
endif

INSTALL = VERSION=$(VERSION) BUILT=$(BUILT) WORK=$(WORK) PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" DATADIR="$(DATADIR)" \
  INCLUDEDIR="$(INCLUDEDIR)" QUDADIR="$(QUDADIR)" DESTDIR="$(DESTDIR)" scripts/install.sh
# Root without cargo (sudo make install) installs what `make` has built.
install: $(if $(shell command -v $(CARGO)),build) $(if $(HAVE_MPI),$(MPI_LIBRARY)) ## library, programs, headers, pkg-config, CMake, Fortran source, docs: PREFIX=, DESTDIR=
	@test -f include/plaq.h || { echo "include/plaq.h is missing" >&2; exit 1; }
	@$(INSTALL)

.PHONY: uninstall
uninstall: ## remove what make install put into PREFIX
	@$(INSTALL) uninstall

.PHONY: python
python: $(WORK)/lib/libplaq.so ## Python environment build/env with NumPy and the package of this tree: build/env/bin/python; PYTHON=
	@scripts/python-env.sh $(BUILT)/libplaq.so build/env

.PHONY: wheel
wheel: ## package for Python with library, header and programs, in build/dist; all instruction sets, or PLAQ_CPU_ISAS
	@rm -rf build/wheel
	@PLAQ_CPU_ISAS=$${PLAQ_CPU_ISAS:-all} $(MAKE) --no-print-directory install PREFIX=$(abspath build/wheel) DESTDIR=
	@scripts/wheel.py build/wheel build/dist

kit: ## everything a machine without cargo needs, in build/kit
	@VERSION=$(VERSION) MAJOR=$(MAJOR) scripts/kit.sh

fmt: ## format the sources
	$(CARGO) fmt --all

lint: ## formatting, clippy and documentation, warnings fail
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --quiet

doc: ## documentation of the Rust interface in target/doc
	$(CARGO) doc --no-deps

clean: ## remove what was built
	rm -rf build
	$(CARGO) clean
