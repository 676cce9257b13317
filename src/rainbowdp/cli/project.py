"""What need not be said with every command: a project file, and where the ledger is.

``rainbow.toml``, in the current folder or one above it, says what the data is, whose it is, and
which ledger pays, or which service has both. Options of a command come first, then
``RAINBOW_LEDGER``, ``RAINBOW_SERVICE`` and ``RAINBOW_TOKEN_FILE``, then the file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidFile

FILE = "rainbow.toml"
VARIABLE = "RAINBOW_LEDGER"
DEFAULT = "budget.db"

TEXTS = (
    "data",
    "table",
    "ledger",
    "service",
    "token_file",
    "dataset",
    "source",
    "person",
    "person_rule",
    "neighbors",
    "delimiter",
    "encoding",
    "decimal",
    "format",
)
NUMBERS = ("epsilon", "delta", "mu", "rho")
KEYS = (*TEXTS, *NUMBERS, "rows_per_person")
_PLACES = ("data", "ledger", "token_file")


@dataclass(frozen=True)
class Project:
    """What a project file says; nothing where there is none."""

    file: Path | None = None
    said: Mapping[str, Any] = field(default_factory=dict)

    def get(self, key: str, given: Any = None, default: Any = None) -> Any:
        """What was given with the command, else what the file says, else ``default``."""
        return given if given is not None else self.said.get(key, default)

    def promise(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers of a guarantee: those of the command, or if it has none those of the file."""
        if any(value is not None for value in given.values()):
            return dict(given)
        return {name: self.said.get(name) for name in NUMBERS}


def project() -> Project:
    """The project of the current folder."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        file = folder / FILE
        if file.is_file():
            return Project(file, checked(read_toml(file), file))
    return Project()


def read_toml(file: Path) -> dict[str, Any]:
    """A TOML file, its decimals as texts, so that 0.1 is exactly a tenth."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        wrong = " ".join(str(error).split())
    except FileNotFoundError:
        raise InvalidFile(f"There is no file {file}.") from None
    except (OSError, ValueError):  # a folder, another encoding, or a name that no file has
        wrong = "it is not a text file in UTF-8"
    raise InvalidFile(f"{file} cannot be read as TOML: {wrong}.")


def checked(said: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """What a file says of data and ledger, each key of its type; paths from where the file is."""
    found: dict[str, Any] = {}
    for key, value in said.items():
        if key not in KEYS:
            raise InvalidFile(f"{file}: there is no key {key!r}. Keys are {', '.join(KEYS)}.")
        if key == "rows_per_person":
            if not isinstance(value, int) or isinstance(value, bool):
                raise InvalidFile(f"{file}: {key} must be a whole number, got {value!r}.")
            found[key] = value
        elif key in NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise InvalidFile(f"{file}: {key} must be a number, got {value!r}.")
            found[key] = str(value)
        elif not isinstance(value, str) or not value:
            raise InvalidFile(f"{file}: {key} must be a text, got {value!r}.")
        else:
            found[key] = _placed(value, file) if key in _PLACES else value
    return found


def _placed(value: str, file: Path) -> str:
    """A path from the folder of the file; an address as it is."""
    return value if "://" in value else str(file.parent / value)


def named_ledger(settings: Project) -> str | None:
    """Where the ledger is, as the environment or else the project says."""
    found: str | None = os.environ.get(VARIABLE) or settings.get("ledger")
    return found
