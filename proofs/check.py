"""Build the proofs and show that every theorem stands on nothing but Coq's logic.

    python3 proofs/check.py            build, and print what each theorem assumes
    python3 proofs/check.py --kernel   and let coqchk check the compiled files once more

It fails where a file does not compile, where a word admits something without proof, or where
``Print Assumptions`` names anything at all. Files are built in a folder of their own, from nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PROOFS = Path(__file__).parent
CLOSED = "Closed under the global context"
FORBIDDEN = (
    "Abort",
    "Admitted",
    "Axiom",
    "Axioms",
    "Conjecture",
    "Context",
    "Hypotheses",
    "Hypothesis",
    "Parameter",
    "Parameters",
    "Unset",
    "Variable",
    "Variables",
    "admit",
    "bypass_check",
    "give_up",
)


def files(folder: Path = PROOFS) -> list[Path]:
    """The files of the project, each after those it needs."""
    listed = (folder / "_CoqProject").read_text().split()[3:]
    unlisted = {path.name for path in folder.glob("*.v")} ^ set(listed)
    if unlisted:
        raise SystemExit(f"_CoqProject must list the files that exist, but for {sorted(unlisted)}")
    return [folder / name for name in listed]


def without_comments(text: str) -> str:
    """The text without its comments, which may be nested."""
    kept, depth = [], 0
    for piece in re.split(r"(\(\*|\*\))", text):
        if piece == "(*":
            depth += 1
        elif piece == "*)":
            depth -= 1
        elif depth == 0:
            kept.append(piece)
    return " ".join(kept)


def forbidden(text: str) -> list[str]:
    """The words in it that would let something in without proof."""
    words = set(re.findall(r"[A-Za-z_']+", without_comments(text)))
    return sorted(words & set(FORBIDDEN))


def theorems(text: str) -> list[str]:
    """The names of the theorems in it; lemmas are steps on the way."""
    return re.findall(r"^\s*Theorem\s+(\w+)", without_comments(text), re.MULTILINE)


def run(command: Sequence[str], where: Path) -> str:
    """What a command prints; ends the program if it fails."""
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr  # coqchk reports on the second


def build(where: Path, folder: Path = PROOFS) -> list[Path]:
    """Compile a copy of all files in ``where``, in order."""
    if shutil.which("coqc") is None:
        raise SystemExit("The proofs need Coq: install Debian's package (apt-get install coq).")
    found = files(folder)
    for path in found:
        shutil.copy(path, where)
        run(["coqc", "-q", "-Q", ".", "Rainbow", path.name], where)
    return found


def assumptions(where: Path, found: Sequence[Path]) -> dict[str, str]:
    """What ``Print Assumptions`` says of each theorem, asked one by one after the build."""
    names = [f"{path.stem}.{name}" for path in found for name in theorems(path.read_text())]
    modules = " ".join(path.stem for path in found)
    asked = [f'Goal True. idtac "= {name}". Abort.\nPrint Assumptions {name}.' for name in names]
    source = "\n".join([f"From Rainbow Require {modules}.", *asked])
    (where / "Asked.v").write_text(source + "\n")
    said = run(["coqc", "-q", "-Q", ".", "Rainbow", "Asked.v"], where)
    blocks = [block.partition("\n") for block in said.split("= ")[1:]]
    return {name.strip(): told.strip() for name, _, told in blocks}


def main(folder: Path = PROOFS, *, kernel: bool = False) -> None:
    """Check everything and print one line a theorem."""
    for path in files(folder):
        words = forbidden(path.read_text())
        if words:
            raise SystemExit(f"{path.name} must prove what it says, but it has {', '.join(words)}")
    with tempfile.TemporaryDirectory() as made:
        where = Path(made)
        found = build(where, folder)
        said = assumptions(where, found)
        for name, told in said.items():
            sys.stdout.write(f"{name}: {told}\n")
        open_ones = [name for name, told in said.items() if told != CLOSED]
        if open_ones or len(said) != sum(len(theorems(p.read_text())) for p in found):
            raise SystemExit(f"theorems must assume nothing, but these do: {', '.join(open_ones)}")
        if kernel:
            modules = [f"Rainbow.{path.stem}" for path in found]
            told = run(["coqchk", "-silent", "-o", "-Q", ".", "Rainbow", *modules], where)
            if "* Axioms: <none>" not in told:
                raise SystemExit(told)
            sys.stdout.write("coqchk: Axioms: <none>\n")
    sys.stdout.write(f"{len(said)} theorems in {len(found)} files, no axiom\n")


if __name__ == "__main__":
    main(kernel="--kernel" in sys.argv[1:])
