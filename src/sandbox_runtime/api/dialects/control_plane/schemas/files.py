"""Files on the wire."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

_PATH = 4096


class FileInfo(BaseModel):
    name: str
    container_path: str
    size: int
    modified_time: datetime
    etag: str


class FileList(BaseModel):
    session_id: str
    files: list[FileInfo]
    count: int
    truncated: bool


class Uploaded(BaseModel):
    session_id: str
    file_path: str
    path: str
    size: int


class Presigned(BaseModel):
    session_id: str
    file_path: str
    presigned_url: str
    size: int


class Move(BaseModel):
    source: str = Field(min_length=1, max_length=_PATH)
    target: str = Field(min_length=1, max_length=_PATH)
    replace: bool = False


class Moved(BaseModel):
    session_id: str
    source: str
    target: str


class UnpackResult(BaseModel):
    session_id: str
    path: str
    files: int
    size: int
