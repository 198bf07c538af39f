"""Builds feeler._native: libfeeler and scenes, linked into one module of the stable ABI (CPython 3.9 and later).

The static libraries come from a CMake build. FEELER_BUILD names its folder; without it, one is made beside this file.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
LIBRARIES = ["flr_sim", "flr_models", "flr_scene", "feeler_static"]  # targets
ARCHIVES = ["libflr_sim.a", "libflr_models.a", "libflr_scene.a", "libfeeler.a"]  # in the order of linking
sys.path.insert(0, str(HERE))


def version() -> str:
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(feeler VERSION ([0-9.]+)", text)
    if not found:
        raise SystemExit("CMakeLists.txt names no version of feeler")
    return found.group(1)


def build_folder() -> Path:
    """Where the static libraries are, built if need be."""
    given = os.environ.get("FEELER_BUILD")
    folder = Path(given).resolve() if given else HERE / "build" / "native"
    if not given:
        off = ["FLR_TESTS", "FLR_IMPORT", "FLR_VIEWER"]
        subprocess.check_call(
            ["cmake", "-S", str(SOURCE), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"]
            + [f"-D{name}=OFF" for name in off]
        )
        subprocess.check_call(["cmake", "--build", str(folder), "-j", str(os.cpu_count() or 1), "--target"] + LIBRARIES)
    return folder


class BuildNative(build_ext):
    def build_extension(self, ext) -> None:  # type: ignore[no-untyped-def]
        folder = build_folder()
        ext.include_dirs += [str(SOURCE / "include"), str(folder / "generated")]
        ext.extra_objects += [str(folder / name) for name in ARCHIVES]
        ext.libraries += ["jansson", "m", "pthread"]
        bundled = os.environ.get("FEELER_BUNDLE", "yes") != "no"
        if bundled:
            ext.extra_link_args.append("-Wl,-rpath,$ORIGIN")
        ext.extra_compile_args += ["-O2", "-g0", "-fvisibility=hidden", f"-ffile-prefix-map={SOURCE}=."]
        ext.extra_link_args += ["-Wl,--exclude-libs,ALL", "-Wl,--build-id=none", "-Wl,--strip-all"]
        ext.extra_compile_args += os.environ.get("FEELER_CFLAGS", "").split()
        ext.extra_link_args += os.environ.get("FEELER_LDFLAGS", "").split()
        super().build_extension(ext)
        if bundled:  # a wheel stands alone: it brings the one library that is not part of every system
            module = Path(self.get_ext_fullpath(ext.name))
            listed = subprocess.run(["ldd", str(module)], capture_output=True, text=True, check=True).stdout
            found = re.search(r"(libjansson\.so\.[0-9]+) => (/\S+)", listed)
            if found and Path(found.group(2)).resolve().parent != module.resolve().parent:
                shutil.copyfile(Path(found.group(2)).resolve(), module.parent / found.group(1))


class StableWheel(bdist_wheel):
    def get_tag(self):  # type: ignore[no-untyped-def]
        _, _, platform = super().get_tag()
        return "cp39", "abi3", platform


setup(
    version=version(),
    cffi_modules=["native.py:ffi"],
    cmdclass={"build_ext": BuildNative, "bdist_wheel": StableWheel},
)
