"""Price, explain and ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from rainbowdp.answering.askable import Askable
from rainbowdp.ledger import Cost
from rainbowdp.service.approving import requested
from rainbowdp.service.asking import (
    answered,
    description_of,
    entry_name,
    explained,
    guarantee_of,
)
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.people.roles import Person, Role
from rainbowdp.service.planning import must_have_a_total, planned
from rainbowdp.service.problems import Code, Problem
from rainbowdp.service.routes.shared import (
    OF_A_DATASET,
    OF_A_QUESTION,
    Anybody,
    Asker,
    AskerOrCurator,
    ExactRoute,
    Running,
    admitted,
    bearer,
    exactly_read,
    problems,
)
from rainbowdp.service.schema import (
    AnswerReply,
    AnyAsking,
    Asked,
    ExplainReply,
    Name,
    PlanAsking,
    PriceReply,
    WaitingReply,
)
from rainbowdp.service.state import Deadline, Service
from rainbowdp.service.telling import told_answer
from rainbowdp.sessions.session import Explanation

router = APIRouter(prefix="/v1/datasets/{dataset}", route_class=ExactRoute, tags=["asking"])
_ASKING = (
    *OF_A_QUESTION,
    Code.BUDGET_EXCEEDED,
    Code.LIMIT_EXCEEDED,
    Code.NAME_TAKEN,
    Code.REFUSED,
    Code.WAITING_FOR_APPROVAL,
    Code.UNFIT,
    Code.DATA_UNREADABLE,
)
_KEY = "Idempotency-Key"
Key = Annotated[
    Name | None,
    Header(
        alias=_KEY,
        description="A new one for each question; a retry with the same one is free and exact.",
    ),
]


@router.post("/price", responses=problems(*OF_A_QUESTION))
async def price(dataset: str, asked: Asked, service: Running, person: AskerOrCurator) -> PriceReply:
    """What an answer would cost, and how many such answers are left; nothing is read or spent."""
    found = service.dataset(dataset)

    def look() -> dict[str, Any]:
        found.question(description_of(asked.question))
        return _priced(found, person, found.ledger_for(person).price(guarantee_of(asked.guarantee)))

    return PriceReply(**await service.work(look))


@router.post("/explain", responses=problems(*OF_A_QUESTION))
async def explain(
    dataset: str, asked: Asked, service: Running, person: AskerOrCurator
) -> ExplainReply:
    """What a question would do and cost, and how sure its answer is; nothing is read or spent."""
    found = service.dataset(dataset)

    def look() -> dict[str, Any]:
        mechanism = _mechanism(service, found, asked)
        cost = found.ledger_for(person).price(mechanism.guarantee)
        price = _priced(found, person, cost)
        return explained(mechanism, price, Explanation(mechanism, cost, price["answers_left"]))

    return ExplainReply(**await service.work(look))


class _AskRoute(APIRoute):
    """A route whose endpoint runs in one worker's thread with all that it is given.

    Who asks, and what, is looked up and checked there, too, in this order: a question takes one
    thread from its first byte to its answer. What the endpoint is given is what it declares, from
    which OpenAPI is made.
    """

    def get_route_handler(self) -> Callable[[Request], Any]:
        """What answers a request."""
        answer, asking, key = self.endpoint, TypeAdapter(AnyAsking), TypeAdapter(Name | None)

        async def handle(request: Request) -> Response:
            service: Service = request.app.state.service
            given, body = await bearer(request), await request.body()
            deadline = service.deadline()

            def work() -> Response:
                reply: Response = answer(
                    person=admitted(request, service, given, Role.ANALYST),
                    dataset=request.path_params["dataset"],
                    asking=_valid(asking, _json(request, body), "body"),
                    key=_valid(key, request.headers.get(_KEY), "header", _KEY),
                    service=service,
                    deadline=deadline,
                )
                return reply

            return await service.work(work)

        return handle


def _json(request: Request, body: bytes) -> Any:
    """A body that says it is JSON, read."""
    if not body:
        raise Problem(Code.INVALID_REQUEST, "body: Field required. See /v1/schema.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise Problem(Code.INVALID_REQUEST, "body: Send it as Content-Type: application/json.")
    return exactly_read(body)


def _valid(adapter: TypeAdapter[Any], given: Any, *place: str) -> Any:
    """What was given, if it fits the schema."""
    try:
        return adapter.validate_python(given)
    except ValidationError as error:
        wrong = [{**one, "loc": (*place, *one["loc"])} for one in error.errors(include_url=False)]
    raise RequestValidationError(wrong)


async def _deadline(service: Running) -> Deadline:
    return service.deadline()


ask_router = APIRouter(prefix=router.prefix, route_class=_AskRoute, tags=["asking"])


@ask_router.post(
    "/ask",
    response_model=AnswerReply,
    responses={202: {"model": WaitingReply}, **problems(*_ASKING)},
)
def ask(
    dataset: str,
    asking: AnyAsking,
    service: Running,
    person: Asker,
    deadline: Annotated[Deadline, Depends(_deadline)],
    key: Key = None,
) -> Response:
    """Answer a question, or all of a plan: paid for, drawn, recorded, and then told.

    Where a curator must approve it, it waits for that (202); asked again with the same key, it is
    answered once it is approved.
    """
    found = service.dataset(dataset)
    name = _named(person, key, asking.name)
    mechanism: Askable
    plan = asking.plan if isinstance(asking, PlanAsking) else None
    if isinstance(asking, PlanAsking):
        must_have_a_total(asking.plan)
        mechanism = planned(service, found, asking.plan)
    else:
        mechanism = _mechanism(service, found, asking)
    if found.settings.approval:
        given = key or asking.name
        request = requested(service.approvals, found, person, mechanism, given, plan)
        if request is not None:
            waiting = WaitingReply(request=request.id, status="waiting")
            return JSONResponse(waiting.model_dump(), 202)
    drawn = answered(found, person, mechanism, name, deadline)
    proof = None if drawn.recalled else mechanism.proof_in_words
    reply = AnswerReply(**told_answer(drawn, proof))
    return Response(reply.model_dump_json(), media_type="application/json")


def ask_route() -> APIRoute:
    """The route of ``ask``, which most requests are for."""
    [route] = ask_router.routes
    assert isinstance(route, APIRoute)
    return route


@router.get("/answers/{name:path}", responses=problems(*OF_A_DATASET, Code.UNKNOWN_ANSWER))
async def recall(dataset: str, name: str, service: Running, person: Anybody) -> AnswerReply:
    """An earlier answer by its name, for free: one's own, or as an auditor person/name."""
    ledger = service.dataset(dataset).ledger_for(person)
    full = "/" in name and person.is_any(Role.AUDITOR, Role.CURATOR)

    def look() -> dict[str, Any]:
        found = ledger.named(name if full else entry_name(person, name))
        if found is None:
            raise Problem(Code.UNKNOWN_ANSWER, "There is no answer of this name. See the history.")
        return told_answer(found)

    return AnswerReply(**await service.work(look))


def _mechanism(service: Service, dataset: Dataset, asked: Asked) -> Askable:
    question = dataset.question(description_of(asked.question))
    guarantee = guarantee_of(asked.guarantee)
    dataset.ledger.price(guarantee)  # refused before a mechanism is made
    return service.mechanisms.of(question, guarantee)


def _priced(dataset: Dataset, person: Person, cost: Cost) -> dict[str, Any]:
    balance = dataset.ledger_for(person).balance()
    return {
        "cost": cost.as_dict(),
        "answers_left": balance.answers_left(cost, by=person.name, source=dataset.source),
        "left": balance.left.as_dict(),
    }


def _named(person: Person, key: str | None, name: str | None) -> str | None:
    """The name of an answer in the ledger: the key of a retry, or what the asker calls it."""
    if key is not None and name is not None and key != name:
        raise Problem(
            Code.INVALID_REQUEST,
            "An answer has one name: give either a name or an Idempotency-Key, or the same twice.",
        )
    chosen = key or name
    return None if chosen is None else entry_name(person, chosen)
