"""Completes a requirements file: the versions that pip resolves, with the hash of each wheel."""

import json
import subprocess
import sys

path = sys.argv[1]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
# Nothing is installed: `--target` is for Pythons that a distribution manages.
resolve = [*pip, "--dry-run", "--ignore-installed", "--target", "unused", "--report", "-", "-r", path]
resolved = subprocess.run(resolve, stdout=subprocess.PIPE)
if resolved.returncode != 0:
    sys.exit(resolved.returncode)  # pip has said why
report = json.loads(resolved.stdout)
with open(path, "w") as file:
    for package in report["install"]:
        name, version = package["metadata"]["name"], package["metadata"]["version"]
        digest = package["download_info"]["archive_info"]["hash"].replace("=", ":")
        print(f"{name}=={version} --hash={digest}", file=file)
