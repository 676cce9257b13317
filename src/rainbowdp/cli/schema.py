"""``rainbow schema``."""

from __future__ import annotations

from rainbowdp.cli.output import print_json
from rainbowdp.errors import MissingExtra


def schema() -> None:
    """Print the JSON Schema of questions, guarantees, answers and mechanism files.

    It is what a service takes and what files hold: `#/$defs/Question`, `#/$defs/Guarantee`,
    `#/$defs/Answer`, `#/$defs/MechanismFile`.

    Example: `rainbow schema > rainbow.schema.json`
    """
    try:
        from rainbowdp.service.published import json_schema
    except ImportError as error:
        raise MissingExtra("pydantic", "service") from error
    print_json(json_schema())
