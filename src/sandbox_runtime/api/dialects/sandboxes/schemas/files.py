"""Bodies of the routes of files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sandbox_runtime.api.dialects.sandboxes.schemas.base import Path, ResponseModel, StrictRequestModel

MAX_FILE_BYTES = 10 * 1024 * 1024
"""Of a file whose content is part of a JSON body."""

Encoding = Literal["utf8", "utf-8", "base64"]
Permissions = Annotated[str | None, Field(pattern=r"^0?[0-7]{3}$", description="In octal: 644.")]


class UploadFileRequest(StrictRequestModel):
    path: Path
    content: str
    encoding: Encoding = "utf8"
    permissions: Permissions = None
    overwrite: bool = False


class WriteFileRequest(StrictRequestModel):
    content: str
    encoding: Encoding = "utf8"
    permissions: Permissions = None
    overwrite: bool = True


class FileVersion(ResponseModel):
    version: int
    size: int
    checksum: str
    created_at: str
    deleted_at: str | None = None


class FileMetadata(ResponseModel):
    """Metadata of an uploaded file."""

    version: int
    current: bool = Field(description="False if a program has changed the file since the upload.")
    mime_type: str
    checksum: str
    access_count: int
    last_accessed: str | None = None
    created_at: str
    versions: list[FileVersion] | None = Field(None, description="Newest first. Not included in listings.")


class SandboxFile(ResponseModel):
    path: str
    name: str
    size: int
    mod_time: str
    is_dir: bool
    mode: str
    content: str | None = None
    content_type: str | None = None
    encoding: str | None = None
    checksum: str | None = None
    metadata: FileMetadata | None = None
