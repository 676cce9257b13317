"""The JSON Schema of questions, guarantees, answers and mechanism files, as it is published.

That of files is a file itself, which comes with the small readers: they have no pydantic.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from rainbowdp.service import schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ID = "urn:rainbowdp:schema:1"
_REF = "#/$defs/{model}"


_PUBLISHED: dict[str, Any] = {
    "Question": schema.Question,
    "Guarantee": schema.Guarantee,
    "Asked": schema.Asked,
    "Asking": schema.AnyAsking,
    "Plan": schema.Plan,
    "Answer": schema.AnswerReply,
    "Problem": schema.ProblemReply,
}


@cache
def json_schema() -> dict[str, Any]:
    """All definitions in one document; ``#/$defs/Question`` is that of a question.

    Returns
    -------
    dict
        A JSON Schema of draft 2020-12.

    """
    adapters = [(name, "validation", TypeAdapter(kind)) for name, kind in _PUBLISHED.items()]
    found, rest = TypeAdapter.json_schemas(
        adapters,  # type: ignore[arg-type]
        ref_template=_REF,
    )
    definitions = dict(rest.get("$defs", {}))
    for (name, _), described in found.items():
        reference = _REF.format(model=name)
        if described != {"$ref": reference}:
            definitions[str(name)] = described
    in_files = json.loads((files("rainbow_release") / "files.schema.json").read_text("utf-8"))
    assert not definitions.keys() & in_files["$defs"].keys()
    definitions |= in_files["$defs"]
    return {
        "$schema": DRAFT,
        "$id": _ID,
        "title": "Questions, guarantees, answers and mechanism files of rainbowdp",
        "$defs": dict(sorted(definitions.items())),
    }
