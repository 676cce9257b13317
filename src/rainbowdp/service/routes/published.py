"""The published JSON Schema."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from rainbowdp.service.published import json_schema
from rainbowdp.service.routes.shared import EVERYWHERE, problems

router = APIRouter(prefix="/v1", tags=["schema"])


@router.get("/schema", responses=problems(*EVERYWHERE))
async def schema() -> dict[str, Any]:
    """JSON Schema of questions, guarantees, answers and mechanism files."""
    return json_schema()
