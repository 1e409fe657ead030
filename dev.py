#!/usr/bin/env python3
"""The project's commands, for a machine that has Python (3.11 or newer) and nothing else.

Here: setting up `.venv` from a lock file, and one function for each command. Only the standard library may be imported.
Not here: anything that the package, the tests or the benchmark do themselves.

    python3 dev.py examples           set up, repair every history in examples/, show the results and the reports
    python3 dev.py test [ARG …]       set up, run the tests (ARG goes to pytest)
    python3 dev.py lint               ruff (check, format), mypy --strict, pyright
    python3 dev.py docs               build the site into site/, without network
    python3 dev.py bench [ARG …]      the benchmark (ARG goes to `python -m bench.run`; --peers adds the libraries it compares with)
    python3 dev.py mutants [ARG …]    mutation testing of src/sendable/rules (ARG goes to `mutmut run`); takes long
    python3 dev.py lock [--upgrade]   write requirements.lock and requirements-dev.lock anew from pyproject.toml
    python3 dev.py setup              only set up
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent
BUILD_TOOLS = ("--no-deps", "--no-build-isolation")
"""The package itself is built with the hatchling of the lock file, never with one that pip fetches."""

PEERS = ("litellm", "martian-linguafranca")
"""Compared with by the benchmark. In an environment of their own: they pull in half a gigabyte and pins that are not ours."""


class Failure(Exception):
    """What ends a command, in one line."""


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


# --- the environment ---------------------------------------------------------------------------------------------------


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def script_of(venv: Path, name: str) -> str:
    return str(python_of(venv).with_name(f"{name}.exe" if os.name == "nt" else name))


def stamp_for(lock: Path) -> str:
    """Changes whenever the environment has to be built anew: another lock, other metadata, another Python, another place."""
    import tomllib  # here, so that an older Python reaches the message of main()

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    metadata = [settings["build-system"], settings["project"], settings["tool"]["hatch"], sys.version, str(ROOT)]
    return f"{lock.name} {hashlib.sha256(lock.read_bytes() + json.dumps(metadata).encode()).hexdigest()}"


def set_up(lock_name: str, venv: Path = ROOT / ".venv", extra: tuple[str, ...] = ()) -> Path:
    """`venv` holds exactly the lock's packages and this package (editable), plus `extra`; nothing is done if it does so already."""
    lock = ROOT / lock_name
    if not lock.is_file():
        raise Failure(f"{lock_name} is missing; write it with: python3 dev.py lock")
    with alone(venv):
        return set_up_alone(lock, venv, extra)


@contextmanager
def alone(venv: Path) -> Iterator[None]:
    """Of two commands started at once, one sets up and the other waits (not on Windows)."""
    if fcntl is None:
        yield
        return
    with venv.with_name(f"{venv.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def set_up_alone(lock: Path, venv: Path, extra: tuple[str, ...]) -> Path:
    wanted = stamp_for(lock)
    covering = {wanted, stamp_for(ROOT / "requirements-dev.lock")}  # the dev lock holds all of the other one
    stamp_file = venv / "sendable-stamp"
    python = python_of(venv)
    found = stamp_file.read_text().splitlines() if stamp_file.is_file() else []
    runs = python.is_file() and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    if runs and covering & set(found):
        return venv
    current = {stamp_for(ROOT / "requirements.lock")} if (ROOT / "requirements.lock").is_file() else set()
    started = time.monotonic()
    say(f"setting up {venv.name} from {lock.name} …")
    if not runs or (found and not current & set(found)):
        create(venv)
    stamp_file.unlink(missing_ok=True)
    pip(venv, lock.name, "--require-hashes", "-r", str(lock))
    pip(venv, "the package itself", *BUILD_TOOLS, "-e", str(ROOT))
    if extra:
        pip(venv, " ".join(extra), *extra)
    stamp_file.write_text(wanted + "\n")
    say(f"{venv.name} is ready ({time.monotonic() - started:.0f} s)")
    return venv


def create(venv: Path) -> None:
    if venv.exists() and not (venv / "pyvenv.cfg").is_file() and any(venv.iterdir()):
        raise Failure(f"{venv.name} exists and is no virtual environment; move it away")
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", venv], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        hint = " (Debian and Ubuntu: apt-get install python3-venv)" if "ensurepip" in made.stdout + made.stderr else ""
        raise Failure(f"python -m venv failed: {last_line(made.stderr or made.stdout)}{hint}")


def pip(venv: Path, what: str, *arguments: str) -> None:
    command = [str(python_of(venv)), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    log = venv / "pip.log"
    log.write_text(f"{done.stdout}\n{done.stderr}")
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines()]
        told = [line for line in lines if line.startswith("ERROR:") or line.split(": ")[0].endswith("Error")]
        reason = told[-1] if told else last_line(done.stderr)
        raise Failure(f"pip could not install {what}: {reason} (in full: {log})")


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no output"


def run(*command: str, **environment: str) -> int:
    """The exit status of a command in the project's folder, its output going where ours goes."""
    sys.stdout.flush()
    env = {**os.environ, "PYTHONUTF8": "1", **environment}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


# --- the commands ------------------------------------------------------------------------------------------------------


def examples(arguments: list[str]) -> int:
    if arguments:
        raise Failure("examples takes no argument")
    venv = set_up("requirements.lock")
    files = sorted(path for path in (ROOT / "examples").glob("*") if path.suffix in {".json", ".jsonl"})
    if not files:
        raise Failure("examples/ holds no .json or .jsonl file")
    worst = 0
    for path in files:
        shown = ["sendable", "normalize", path.relative_to(ROOT).as_posix(), "--to", target_of(path)]
        command = [script_of(venv, shown[0]), *shown[1:]]
        env = {**os.environ, "PYTHONUTF8": "1"}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, encoding="utf-8", check=False)
        print(f"\n$ {' '.join(shown)}")
        for line in done.stdout.splitlines():
            print(laid_out(json.loads(line)) if is_json(line) else line)
        print(done.stderr.rstrip(), flush=True)
        if done.returncode != 0:
            print(f"(exit status {done.returncode})", flush=True)
        allowed = (
            (0, 2, 3) if path.suffix == ".jsonl" else (0,)
        )  # a file of many may hold a line that nothing can be made of
        worst = max(worst, 0 if done.returncode in allowed else 1)
    print("\n(Long texts are shortened here; the command writes them whole.)")
    return worst


def target_of(path: Path) -> str:
    """The target that an example is made for, from its name: `NAME.TARGET.json`, with `+` for the colon of a profile."""
    parts = path.name.split(".")
    if len(parts) != 3:
        raise Failure(f"examples/{path.name} does not name its target: NAME.TARGET.json")
    return parts[1].replace("+", ":")


def is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def laid_out(value: object) -> str:
    """One message a line."""
    if isinstance(value, dict) and any(isinstance(item, list) for item in value.values()):
        fields = [
            f"{json.dumps(key)}: {laid_out(item) if isinstance(item, list) else one_line(item)}"
            for key, item in value.items()
        ]
        return "{" + ",\n ".join(fields) + "}"
    if isinstance(value, list):
        return "[" + ",\n ".join(one_line(item) for item in value) + "]"
    return one_line(value)


def one_line(value: object) -> str:
    return json.dumps(shortened(value), ensure_ascii=False)


def shortened(value: object, limit: int = 60) -> object:
    if isinstance(value, str) and len(value) > limit:
        return f"{value[:limit]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: shortened(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item, limit) for item in value]
    return value


def test(arguments: list[str]) -> int:
    venv = set_up("requirements-dev.lock")
    spread = [] if any(a.startswith(("-n", "--numprocesses", "--pdb")) for a in arguments) else ["-n", "auto"]
    return run(script_of(venv, "python"), "-m", "pytest", *spread, *arguments)


def lint(arguments: list[str]) -> int:
    if arguments:
        raise Failure("lint takes no argument")
    venv = set_up("requirements-dev.lock")
    checks = {
        "ruff check": (script_of(venv, "ruff"), "check", "."),
        "ruff format": (script_of(venv, "ruff"), "format", "--check", "."),
        "mypy": (script_of(venv, "mypy"), "--strict"),
        "pyright": (script_of(venv, "pyright"), "--pythonpath", script_of(venv, "python")),
    }
    failed = []
    for name, command in checks.items():
        say(f"— {name}")
        if run(*command, PYRIGHT_PYTHON_IGNORE_WARNINGS="1") != 0:
            failed.append(name)
    if failed:
        raise Failure(f"not clean: {', '.join(failed)}")
    return 0


def docs(arguments: list[str]) -> int:
    venv = set_up("requirements-dev.lock")
    if not (ROOT / "mkdocs.yml").is_file():
        raise Failure("mkdocs.yml is missing")
    return run(script_of(venv, "mkdocs"), "build", "--strict", "--quiet", *arguments)


def bench(arguments: list[str]) -> int:
    if "--peers" in arguments:
        venv = set_up("requirements.lock", ROOT / ".venv-peers", ("orjson", *PEERS))
    else:
        venv = set_up("requirements-dev.lock")
    return run(script_of(venv, "python"), "-m", "bench.run", *[a for a in arguments if a != "--peers"])


def mutants(arguments: list[str]) -> int:
    venv = set_up("requirements-dev.lock")
    status = run(script_of(venv, "mutmut"), "run", *arguments, SENDABLE_LAWS="quick")
    say("— what survived (show one with: .venv/bin/mutmut show NAME)")
    run(script_of(venv, "mutmut"), "results")
    return status


def lock(arguments: list[str]) -> int:
    if set(arguments) - {"--upgrade"}:
        raise Failure("lock takes --upgrade only")
    with tempfile.TemporaryDirectory() as folder:
        uv = shutil.which("uv")
        if uv is None:
            create(Path(folder))
            pip(Path(folder), "uv, which writes the lock files", "uv")
            uv = script_of(Path(folder), "uv")
        options = "--group build --universal --generate-hashes --python-version 3.11 --quiet"
        silent = "--no-header --no-emit-index-url --no-emit-find-links --no-annotate"
        command = (uv, "pip", "compile", "pyproject.toml", *options.split(), *silent.split())
        for name, what, more in (
            ("requirements-dev.lock", "What the tests and checks need too.", ("--extra", "dev")),
            ("requirements.lock", "What runs and builds the package.", ("--constraints", "requirements-dev.lock")),
        ):
            if run(*command, *more, "--output-file", name, *arguments) != 0:
                raise Failure(f"uv could not write {name}")
            pins = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
            text = "\n".join([f"# {what} Written by `python3 dev.py lock`.", *pins, ""])
            if "://" in text or str(ROOT) in text:
                raise Failure(f"{name} names a host or a path")
            (ROOT / name).write_text(text)
            say(f"{name}: {sum(not line.startswith(' ') for line in pins)} packages")
    return 0


def setup(arguments: list[str]) -> int:
    if arguments:
        raise Failure("setup takes no argument")
    set_up("requirements-dev.lock")
    return 0


COMMANDS = {f.__name__: f for f in (examples, test, lint, docs, bench, mutants, lock, setup)}


def main() -> NoReturn:
    if sys.version_info < (3, 11):  # noqa: UP036  (said here because an older Python cannot read the metadata)
        sys.exit(f"dev.py: needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 3)
    try:
        sys.exit(COMMANDS[sys.argv[1]](sys.argv[2:]))
    except Failure as failure:
        sys.exit(f"dev.py: {failure}")
    except KeyboardInterrupt:
        sys.exit("dev.py: interrupted")


if __name__ == "__main__":
    main()
