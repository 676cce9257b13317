"""The commands of ``rainbow`` as Markdown, from what Typer knows of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from rainbowdp.cli import app
from rainbowdp.cli.commands import COMMANDS


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by all of its words, in the order of the help."""
    root: Any = get_command(app)
    for name in COMMANDS:
        _, command, _ = root.resolve_command(typer.Context(root), [name])
        yield f"rainbow {name}", command
        for below, inner in getattr(command, "commands", {}).items():
            if not inner.hidden:
                yield f"rainbow {name} {below}", inner


def page() -> str:
    """A section for each command: what it does, an example, and its options by panel.

    What all commands of a group share stands once, where the group is.
    """
    parts, shared = [], set()
    for words, command in commands():
        below = [c for c in getattr(command, "commands", {}).values() if not c.hidden]
        if words.count(" ") == 1:
            alike = [{_id(p) for p in each.params if _shown(p)} for each in below]
            shared = set.intersection(*alike) if alike else set()
            common = [p for p in below[0].params if _id(p) in shared] if below else []
            parts += [section(words, command, command.params)]
            if common:
                parts += ["**Options of all of them**", *_panels(common)]
        else:
            own = [p for p in command.params if _id(p) not in shared]
            parts += [section(words, command, own)]
    return "\n\n".join(parts)


def section(words: str, command: Any, params: list[Any]) -> str:
    """One command with these options and arguments."""
    level = "##" if words.count(" ") == 1 else "###"
    return "\n\n".join([f"{level} {words}", *_told(command.help or ""), *_panels(params)])


def _id(param: Any) -> tuple[str, str]:
    return param.name, param.help or ""


def _shown(param: Any) -> bool:
    return not getattr(param, "hidden", False)


def _panels(params: list[Any]) -> Iterator[str]:
    panels: dict[str, list[str]] = {}
    for param in filter(_shown, params):
        if param.param_type_name == "argument":
            name = f"`{(param.metavar or param.name).upper()}`"
            panels.setdefault("Arguments", []).append(_line(name, param))
        else:
            panel = param.rich_help_panel or "Options"
            panels.setdefault(panel, []).append(_line(_flags(param), param))
    for panel, listed in panels.items():
        yield f"*{panel}*"
        yield "\n".join(listed)


def _told(text: str) -> Iterator[str]:
    """What a command says of itself; an example becomes a block that can be copied."""
    for part in textwrap.dedent(text).strip().split("\n\n"):
        if part.startswith("Example: `"):
            shown = " ".join(part.removeprefix("Example: ").split()).strip("`")
            yield f"```sh\n{shown}\n```"
        elif part != "Examples:":
            yield part


def _flags(param: Any) -> str:
    value = "" if param.is_flag else " " + (param.metavar or _NAMES.get(param.bare_type(), "TEXT"))
    flags = [*param.opts, *param.secondary_opts]
    return ", ".join(f"`{flag}{value}`" for flag in sorted(flags, key=len, reverse=True))


def _line(shown: str, param: Any) -> str:
    default = param.default
    plain = isinstance(default, str | int) and not isinstance(default, bool)
    about = [
        "**required**" if param.required else "",
        f"default `{default}`" if plain and not param.required else "",
    ]
    said = ", ".join(filter(None, about))
    words = _FLAG.sub(r"`\1`", (param.help or "").replace("*", r"\*").replace("<", "&lt;"))
    return f"* {shown}{f' ({said})' if said else ''}: {words}"


_FLAG = re.compile(r"(?<![\w`])(--[a-z][a-z-]+|RAINBOW_[A-Z_]+|rainbow\.toml)")
_NAMES = {"int": "NUMBER", "float": "NUMBER", "Path": "FILE"}
