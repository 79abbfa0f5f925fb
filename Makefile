# The commands of the README. Each sets up all that it needs; see scripts/setup.
#   make run        build, and run the default scene
#   make test       build, and run the tests in their short forms (SANITIZE=address,undefined for a sanitizer build)
#   make test-all   every test, the long ones too
#   make bench      benchmarks beside MuJoCo (BENCH="--instructions solo-standing" for counts by callgrind,
#                   BENCH=--terrain for what a foot costs on a height field)
#   make format     clang-format over the tree

SANITIZE ?=
BUILD := build/$(if $(SANITIZE),sanitize,release)
CMAKE_FLAGS := -DTRIBO_SANITIZE=$(SANITIZE) $(if $(CI),-DTRIBO_WERROR=ON)
JOBS ?= 2
export CTEST_OUTPUT_ON_FAILURE := 1

.PHONY: run configure build test test-all bench format setup setup-tests clean
.DEFAULT_GOAL := build

setup:
	@scripts/setup

setup-tests:
	@scripts/setup tests

configure: setup
	@scripts/configure "$(BUILD)" $(CMAKE_FLAGS)

build: configure
	@cmake --build "$(BUILD)" -j $(JOBS)

# The command alone: a first run does not wait for the tests to build.
run: configure
	@cmake --build "$(BUILD)" -j $(JOBS) --target tribo
	@"$(BUILD)/tribo" run scenes/solo.toml --out out/solo

test: setup-tests build
	@cd "$(BUILD)" && ctest -j $(JOBS) -LE long

test-all: setup-tests build
	@cd "$(BUILD)" && ctest -j $(JOBS)

bench: setup
	@JOBS=$(JOBS) scripts/bench $(BENCH)

format: setup
	@scripts/format

clean:
	@rm -rf build out
