"""Files."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

_MAX_PATH_LENGTH = 4096


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


class UploadResponse(BaseModel):
    session_id: str
    file_path: str
    path: str
    size: int


class PresignedUrlResponse(BaseModel):
    session_id: str
    file_path: str
    presigned_url: str
    size: int


class MoveRequest(BaseModel):
    source: str = Field(min_length=1, max_length=_MAX_PATH_LENGTH)
    target: str = Field(min_length=1, max_length=_MAX_PATH_LENGTH)
    replace: bool = False


class MoveResponse(BaseModel):
    session_id: str
    source: str
    target: str


class UnpackResponse(BaseModel):
    session_id: str
    path: str
    files: int
    size: int
