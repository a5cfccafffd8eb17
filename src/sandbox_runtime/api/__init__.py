"""The HTTP door: app factory, gate, error table and the dialects.

Contract: translates and answers, decides nothing. Every dialect is a folder with wire models, a translation and thin routes; none
knows another; pages/ holds what is for people. The only room that imports FastAPI, Starlette and pydantic.
"""
