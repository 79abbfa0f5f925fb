# The commands of the README. Each sets up all that it needs; see scripts/setup.
#   make run        build, and run the default scene
#   make test       build, and run the tests in their short forms (SANITIZE=address,undefined for a sanitizer build)
#   make test-all   every test, the long ones too; then clang-tidy, and the short ones of a build by clang++
#   make test-clang the tests in their short forms, of a build by clang++ (build/clang)
#   make test-threads  the tests of batches under the thread sanitizer (build/threads)
#   make tidy       clang-tidy over the sources (TIDY="src/a.cpp src/b.cpp" for some of them)
#   make bench      benchmarks beside MuJoCo (BENCH="--instructions solo-standing" for counts by callgrind,
#                   BENCH=--terrain for what a foot costs on a height field)
#   make format     clang-format over the tree
#   make wheel      the Python package with all that it needs, and its source, in dist/ (PYTHONS="python3.10 python3.12" for
#                   others than that of .venv)
#   make docs       the documentation site, in build/site

SANITIZE ?=
BUILD := build/$(if $(SANITIZE),sanitize,release)
CMAKE_FLAGS := -DTRIBO_SANITIZE=$(SANITIZE) $(if $(CI),-DTRIBO_WERROR=ON)
JOBS ?= 2
export CTEST_OUTPUT_ON_FAILURE := 1

.PHONY: run configure build test test-all test-clang test-threads tidy bench format wheel docs setup setup-tests clean
.DEFAULT_GOAL := build

setup:
	@scripts/setup

setup-tests:
	@scripts/setup tests

configure: setup
	@scripts/configure "$(BUILD)" $(CMAKE_FLAGS)

build: configure
	@cmake --build "$(BUILD)" -j $(JOBS)

# The command alone: a first run waits neither for the tests and experiments to compile nor for the robots to be fetched.
run:
	@scripts/setup compile
	@scripts/setup & \
	scripts/configure "$(BUILD)" $(CMAKE_FLAGS) && \
	echo "run: compiling $(BUILD)/tribo (a few minutes the first time)" && \
	cmake --build "$(BUILD)" -j $(JOBS) --target tribo && \
	wait $$! && \
	"$(BUILD)/tribo" run scenes/solo.toml --out out/solo

test: setup-tests build
	@cd "$(BUILD)" && ctest -j $(JOBS) -LE long

test-all: setup-tests build
	@cd "$(BUILD)" && ctest -j $(JOBS)
	@$(MAKE) --no-print-directory tidy test-clang

test-clang:
	@scripts/setup tests clang
	@CC=clang CXX=clang++ scripts/configure build/clang $(CMAKE_FLAGS) -DTRIBO_BATCHES=OFF
	@cmake --build build/clang -j $(JOBS)
	@cd build/clang && ctest -j $(JOBS) -LE long

test-threads: setup
	@JOBS=$(JOBS) scripts/threads

tidy:
	@scripts/setup tests clang
	@CC=clang CXX=clang++ scripts/configure build/tidy $(CMAKE_FLAGS)
	@JOBS=$(JOBS) scripts/tidy $(TIDY)

bench: setup
	@JOBS=$(JOBS) scripts/bench $(BENCH)

format: setup
	@scripts/format

docs:
	@scripts/docs

wheel: setup
	@JOBS=$(JOBS) scripts/wheel $(PYTHONS)

clean:
	@rm -rf build out dist
