"""The wheel works on its own: from a folder that is no checkout, with the configuration and the snapshot that it carries."""

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.home import CHECKOUT

pytestmark = pytest.mark.slow
SOURCES = ("alphaagent", "config", "dashboard", "data/snapshot", "pyproject.toml", "LICENSE", "NOTICE", "README.md")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console script of a fresh environment into which the wheel was installed; dependencies are those of this interpreter."""
    root = tmp_path_factory.mktemp("wheel")
    (wheel,) = built(root).glob("*.whl")
    venv.create(root / "venv", with_pip=False, system_site_packages=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(root / "venv"), "platbase": str(root / "venv")}))
    target = ["--target", str(packages), "--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *target, str(wheel)], check=True, capture_output=True, timeout=120)
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    return root / "venv" / "bin" / "python"


def built(root: Path) -> Path:
    """The wheel, built from a copy, so that nothing is left behind in the checkout."""
    copy = root / "source"
    for name in SOURCES:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy(source, copy / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(root / "dist"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    return root / "dist"


def command(installed: Path, folder: Path, *arguments: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run([str(installed), "-m", "alphaagent", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_installed_package_decides_settles_and_replays_away_from_any_checkout(installed: Path, tmp_path: Path) -> None:
    where = subprocess.run([str(installed), "-c", "import alphaagent; print(alphaagent.__file__)"], cwd=tmp_path, capture_output=True, text=True, check=True)
    package = Path(where.stdout.strip()).parent
    assert package.is_relative_to(installed.parent.parent)
    assert not package.is_relative_to(CHECKOUT)
    decided = json.loads(command(installed, tmp_path, "decide", "AAPL", "--as-of", "2020-08-03", "--json"))
    assert (decided["proposal"]["action"], decided["order"]["status"]) == ("BUY", "pending")
    assert "filled" in command(installed, tmp_path, "settle", "--as-of", "2020-08-04")
    assert "every byte agrees" in command(installed, tmp_path, "replay", "last")
    assert (tmp_path / "data" / "alphaagent.db").is_file()
    findings = [json.loads(line) for line in command(installed, tmp_path, "doctor", "--json").splitlines()]
    told = {finding["check"]: finding["detail"] for finding in findings}
    assert str(package / "_defaults" / "config") in told["settings"]
    assert str(package / "_defaults" / "data" / "snapshot") in told["recorded data"]


def test_the_wheel_decides_what_the_checkout_decides(installed: Path, tmp_path: Path) -> None:
    arguments = ("decide", "NVDA", "--as-of", "2021-07-19", "--dry-run", "--json")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT)}
    here = subprocess.run([sys.executable, "-m", "alphaagent", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert command(installed, tmp_path, *arguments) == here.stdout
