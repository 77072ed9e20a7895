#!/usr/bin/env python3
"""Asks the JSON Schemas of deadloop, with somebody else's library, what they accept and refuse.

usage: python3 scripts/schemas.py PROGRAM     (pip install jsonschema)

The schemas are those that `PROGRAM generate` writes. What they are asked about is in crates/deadloop/tests/schemas.toml:
files of the repository, and texts. A test of the program (tests/all/schemas.rs) asks it about the same texts. Prints what
a schema says wrongly and exits with 1.
"""
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from jsonschema import Draft202012Validator

ROOT = Path(__file__).parent.parent
ASKED = tomllib.loads((ROOT / "crates/deadloop/tests/schemas.toml").read_text())


def said(*words):
    """What the program prints as JSON."""
    return json.loads(subprocess.run([sys.argv[1], *words], stdout=subprocess.PIPE, check=True).stdout)


def settings():
    """Every preset of every detector as a file of settings: by its name and in full."""
    for detector in said("detectors", "--json"):
        for preset in detector["presets"]:
            yield {"guard": [{"detector": detector["name"], "preset": preset["name"]}]}
            yield {"guard": [{"detector": detector["name"], "params": preset["params"]}]}


def inputs():
    """Each kind of file, whether its schema accepts the value, the value, and where it is from."""
    for kind, globs in ASKED["files"].items():
        for glob in globs:
            files = sorted(ROOT.glob(glob))
            if not files:
                sys.exit(f"no file is {glob}")
            for file in files:
                yield kind, True, tomllib.loads(file.read_text()), file.relative_to(ROOT)
    for texts in ASKED["texts"]:
        read = json.loads if texts["kind"] == "transcript" else tomllib.loads
        for accepted in (True, False):
            for text in texts["takes" if accepted else "refuses"]:
                yield texts["kind"], accepted, read(text), text
    for value in settings():
        yield "settings", True, value, value


with tempfile.TemporaryDirectory() as made:
    subprocess.run([sys.argv[1], "generate", made, "--quiet"], check=True)
    files = sorted(Path(made, "schemas").glob("*.schema.json"))
    schemas = {file.name.split(".")[0]: Draft202012Validator(json.loads(file.read_text())) for file in files}
for validator in schemas.values():
    validator.check_schema(validator.schema)
wrong, count = 0, 0
for kind, accepted, value, of in inputs():
    errors = [error.message for error in schemas[kind].iter_errors(value)]
    count += 1
    if accepted == bool(errors):
        wrong += 1
        print(f"{kind}: {'refused' if accepted else 'accepted'}: {of}", *errors, sep="\n  ")
print(f"{count} values, {len(schemas)} schemas: {wrong} wrong")
sys.exit(wrong > 0 or count < 184)
