"""Whether the process runs and can answer, without a token."""

from __future__ import annotations

from fastapi import APIRouter

from rainbowdp.errors import RainbowError
from rainbowdp.service.problems import Code, Problem
from rainbowdp.service.routes.shared import EVERYWHERE, Running, problems
from rainbowdp.service.schema import Health

router = APIRouter(tags=["health"])


@router.get("/health", responses=problems(*EVERYWHERE))
async def health() -> Health:
    """Whether the process runs."""
    return Health(status="ok")


@router.get("/ready", responses=problems(*EVERYWHERE, Code.BUSY))
async def ready(service: Running) -> Health:
    """Whether questions can be answered: every ledger and the directory of people is in reach."""

    def look() -> None:
        try:
            for dataset in service.datasets.values():
                dataset.ledger.head()
            service.directory.ready()
        except RainbowError:
            pass
        else:
            return
        raise Problem(
            Code.NOT_READY, "A ledger or the store of people is out of reach.", retry_after=5
        )

    await service.work(look)
    return Health(status="ready")
