"""PEP 517 backend: builds libshell.so and its components with CMake and zips them with the package into a py3-none wheel. Needs nothing from PyPI."""
import base64
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME, VERSION = "libshell", "0.1.0"


COMPONENTS = ("crypto", "archive", "data", "net")


def _slim(path):
    """The file without its debug information, where there is a tool to take it away."""
    tool = shutil.which("strip") or shutil.which("llvm-strip")
    if tool is None:
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / path.name
        shutil.copy(path, out)
        done = subprocess.run([tool, "--strip-debug", str(out)])
        return out.read_bytes() if done.returncode == 0 else path.read_bytes()


def _libraries():
    """libshell.so and the components that were built: beside LIBSHELL_LIBRARY, or made here. LIBSHELL_COMPONENTS: names with commas, or none."""
    given = os.environ.get("LIBSHELL_LIBRARY")
    wanted = os.environ.get("LIBSHELL_COMPONENTS")
    names = COMPONENTS if wanted is None else [name for name in wanted.split(",") if name in COMPONENTS]

    def collect(library):
        out = {"libshell.so": _slim(library.resolve())}
        for name in names:
            path = library.parent / f"libshell-{name}.so"
            if path.exists():
                out[path.name] = _slim(path)
        return out
    if given:
        return collect(pathlib.Path(given))
    with tempfile.TemporaryDirectory() as build:
        run = lambda *args: subprocess.run(args, check=True)
        run("cmake", "-S", str(ROOT), "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DLIBSHELL_TESTS=OFF")
        run("cmake", "--build", build, "--parallel", str(os.cpu_count() or 1))
        return collect(pathlib.Path(build) / "libshell.so")


def _tag():
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return "py3-none-" + (system if platform.system() != "Linux" else "linux_" + platform.machine())


def _metadata():
    return f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nSummary: A bash-compatible shell inside your own process\nRequires-Python: >=3.9\nLicense: Apache-2.0\n"


def _write(path, files):
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        info = f"{NAME}-{VERSION}.dist-info/RECORD"
        z.writestr(info, "\n".join(record + [f"{info},,"]) + "\n")


def _files(editable=False):
    info = f"{NAME}-{VERSION}.dist-info/"
    files = {}
    if editable:
        files[f"{NAME}.pth"] = (str(HERE) + "\n").encode()
    else:
        for path in sorted((HERE / NAME).rglob("*")):
            if path.suffix in (".py", ".typed") or path.name == "py.typed":
                files[str(path.relative_to(HERE))] = path.read_bytes()
        files.update((f"{NAME}/{name}", data) for name, data in _libraries().items())
    files[info + "METADATA"] = _metadata().encode()
    files[info + "WHEEL"] = f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    return files


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    _write(pathlib.Path(wheel_directory) / name, _files())
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    for library, data in _libraries().items():
        (HERE / NAME / library).write_bytes(data)
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    _write(pathlib.Path(wheel_directory) / name, _files(editable=True))
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
