"""Faster handling of the routes that agents call most.

Each is served by a plain Starlette route that is matched before all routers and skips FastAPI's resolution of dependencies. Path,
body, query parameters and handler are taken from the FastAPI route, which documents it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError, create_model
from starlette.routing import Route

from sandbox_runtime.api.dialects.control_plane.responses import respond
from sandbox_runtime.api.dialects.control_plane.routes import contexts, executions, sessions
from sandbox_runtime.api.number_fields import RequestModel
from sandbox_runtime.api.requests import read_body

_ROUTERS = (contexts.router, executions.router, executions.session_router, sessions.router)
_ENDPOINTS: frozenset[Callable[..., Awaitable[Response]]] = frozenset(
    {
        contexts.execute_in_context,
        executions.execute_and_wait,
        executions.submit,
        executions.submit_to_session,
        sessions.create_session,
    }
)


def fast_routes(base: str) -> tuple[Route, ...]:
    """Return the fast routes, below this path."""
    return tuple(_fast_route(base, route) for router in _ROUTERS for route in _selected(router))


def _selected(router: APIRouter) -> Iterator[APIRoute]:
    return (route for route in router.routes if isinstance(route, APIRoute) and route.endpoint in _ENDPOINTS)


def _fast_route(base: str, route: APIRoute) -> Route:
    body_name, body_model, query_model = _models(route)

    async def handle(request: Request) -> Response:
        body = _parse("body", partial(body_model.model_validate_json, await read_body(request)))
        query = _parse("query", partial(query_model.model_validate, dict(request.query_params)))
        response: Response = await route.endpoint(request, **request.path_params, **{body_name: body}, **dict(query))
        return response

    return Route(base + route.path, partial(respond, handle), methods=["POST"], include_in_schema=False)


def _models(route: APIRoute) -> tuple[str, type[BaseModel], type[BaseModel]]:
    """Return the name and the model of the body parameter, and a model of the query parameters."""
    parameters = list(inspect.signature(route.endpoint, eval_str=True).parameters.values())[1:]
    own = [parameter for parameter in parameters if f"{{{parameter.name}}}" not in route.path]
    body = next(parameter for parameter in own if _is_model(parameter.annotation))
    query: dict[str, Any] = {
        parameter.name: (parameter.annotation, parameter.default) for parameter in own if parameter is not body
    }
    return body.name, body.annotation, create_model(f"{route.name}_query", __base__=RequestModel, **query)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _parse(source: str, parse: Callable[[], BaseModel]) -> BaseModel:
    try:
        return parse()
    except ValidationError as error:
        problems: list[Any] = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**problem, "loc": (source, *problem["loc"])} for problem in problems]) from error
