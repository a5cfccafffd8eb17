"""The HTTP API: app factory, middleware, error responses and the dialects.

This package translates between HTTP and the platform and decides nothing itself. Each wire protocol is a dialect: a folder with
schemas, mapping and thin routes. Dialects do not import each other. `pages/` serves the HTML pages. Only this package imports
FastAPI, Starlette and pydantic.
"""
