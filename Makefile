# feeler: the few commands a person types. The build itself is CMake's (CMakePresets.json).
#   make          build/feeler, release mode
#   make demo     set everything up and open the viewer on a scene (NAME=gear: another one)
#   make test     set everything up and run the tests
#   make docs     the documentation site with API reference and search, in build/site/
#   make wheel    the Python package, in build/dist/
#   make dist     a release: sources, Debian packages, wheel, checksums, SBOM, in build/dist/
#   make install  PREFIX=/usr/local
.DELETE_ON_ERROR:
DEPS ?= yes
PREFIX ?= /usr/local

all: configure
	@cmake --build --preset release

configure: deps-build
	@mkdir -p build
	@cmake --preset release -DFLR_TESTS=OFF >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

demo: configure
	@cmake --build --preset release --target feeler feeler_import
	@build/feeler demo $(NAME)

test: deps-test
	@scripts/test release

check: deps-check
	@.ci/run

docs: deps-docs
	@scripts/docs

install: all
	cmake --install build --prefix $(PREFIX)

deb: all
	cd build && cpack -G DEB

wheel: deps-python all
	@scripts/python wheel

dist: deps-python
	@scripts/dist

format: deps-check
	@scripts/format --fix

clean:
	rm -rf build build-*

deps-%:
	@[ "$(DEPS)" = no ] || scripts/deps $*

.PHONY: all configure demo test check docs install deb wheel dist format clean
