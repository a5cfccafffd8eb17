"""A storage in a bucket that speaks S3. The only place that knows the client's library.

Small objects go in one request, larger ones in parts of which one is in memory at a time; an upload that fails is called off, so
that no parts are left that somebody pays for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import aioboto3  # type: ignore[import-untyped]  # the library has no types
from aiobotocore.config import AioConfig  # type: ignore[import-untyped]
from aiohttp import ClientError as AioClientError
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

from sandbox_runtime.errors import InvalidRequest, NotFound, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.workspace.os_errors import show_name
from sandbox_runtime.workspace.storage.port import S3Options, StoredObject, check_key
from sandbox_runtime.workspace.threads import rechunk_async

_PART_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024
_MAX_PRESIGNED_S = 7 * 24 * 3600
_ABORT_TIMEOUT_S = 10.0
_DELETED_AT_ONCE = 1000
_MISSING = ("404", "NoSuchKey", "NotFound")
_REFUSED = ("401", "403", "AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken")
_EMPTY_RANGE = ("416", "InvalidRange")


@contextlib.asynccontextmanager
async def open_s3(options: S3Options) -> AsyncIterator[S3Storage]:
    session = aioboto3.Session()
    async with contextlib.AsyncExitStack() as held:
        try:
            client = await held.enter_async_context(_client(session, options, options.endpoint_url))
            public = options.public_endpoint_url
            signer = await held.enter_async_context(_client(session, options, public)) if public else client
        except (BotoCoreError, ValueError) as error:
            raise Unavailable(f"the storage in S3 cannot be used: {error}") from error
        yield S3Storage(client, signer, options.bucket, options.prefix)


def _client(session: Any, options: S3Options, endpoint_url: str) -> Any:
    config = AioConfig(
        signature_version="s3v4",
        connect_timeout=5,
        read_timeout=60,
        retries={"mode": "standard", "max_attempts": 3},
        max_pool_connections=32,
        # Buckets as a part of the host name need an entry in the DNS for each, which few servers besides Amazon's have.
        s3={"addressing_style": "path" if endpoint_url else "auto"},
        # The newer checksums are not understood everywhere.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return session.client(
        "s3",
        region_name=options.region,
        endpoint_url=endpoint_url or None,
        aws_access_key_id=options.access_key_id or None,
        aws_secret_access_key=options.secret_access_key or None,
        config=config,
    )


class S3Storage:
    name = "s3"

    def __init__(self, client: Any, signer: Any, bucket: str, prefix: str) -> None:
        self._client = client
        self._signer = signer
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    def _object_args(self, key: str) -> Mapping[str, str]:
        check_key(key)
        return {"Bucket": self._bucket, "Key": f"{self._prefix}{key}"}

    async def put(self, key: str, source: AsyncIterable[bytes]) -> int:
        object_args = self._object_args(key)
        parts = rechunk_async(source, _PART_BYTES)
        first = await anext(parts, b"")
        with _translate_client_errors(key):
            if len(first) < _PART_BYTES:
                await self._client.put_object(**object_args, Body=first)
                return len(first)
            upload = await self._client.create_multipart_upload(**object_args)
        return await self._put_parts(key, {**object_args, "UploadId": upload["UploadId"]}, first, parts)

    async def _put_parts(self, key: str, object_args: Mapping[str, str], first: bytes, rest: AsyncIterator[bytes]) -> int:
        done: list[dict[str, object]] = []
        size = 0
        part = first
        try:
            while part:
                with _translate_client_errors(key):
                    answer = await self._client.upload_part(**object_args, PartNumber=len(done) + 1, Body=part)
                done.append({"PartNumber": len(done) + 1, "ETag": answer["ETag"]})
                size += len(part)
                part = await anext(rest, b"")
            with _translate_client_errors(key):
                await self._client.complete_multipart_upload(**object_args, MultipartUpload={"Parts": done})
        except BaseException:
            await self._abort_upload(object_args)
            raise
        return size

    async def _abort_upload(self, object_args: Mapping[str, str]) -> None:
        """Whoever was cancelled still waits for this; buckets also have rules that do it later."""
        with contextlib.suppress(BotoCoreError, ClientError, TimeoutError):
            async with asyncio.timeout(_ABORT_TIMEOUT_S):
                await asyncio.shield(asyncio.ensure_future(self._client.abort_multipart_upload(**object_args)))

    async def get(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        object_args = self._object_args(key)
        if length == 0:
            await self.stat(key)
            return
        wanted = {"Range": f"bytes={offset}-{'' if length is None else offset + length - 1}"} if offset or length else {}
        with _translate_client_errors(key):
            try:
                answer = await self._client.get_object(**object_args, **wanted)
            except ClientError as error:
                if _code(error) in _EMPTY_RANGE:
                    return
                raise
            try:
                async for chunk in answer["Body"].iter_chunks(_CHUNK_BYTES):
                    yield chunk
            finally:
                answer["Body"].close()

    async def stat(self, key: str) -> StoredObject:
        object_args = self._object_args(key)
        with _translate_client_errors(key):
            found = await self._client.head_object(**object_args)
        return StoredObject(key, found["ContentLength"], found["LastModified"].timestamp(), found["ETag"].strip('"'))

    async def list(self, prefix: str, limit: int = 1000) -> Sequence[StoredObject]:
        found: list[StoredObject] = []
        more: dict[str, str] = {}
        with _translate_client_errors(prefix):
            while len(found) < limit:
                page = await self._client.list_objects_v2(
                    Bucket=self._bucket, Prefix=f"{self._prefix}{prefix}", MaxKeys=min(limit - len(found), 1000), **more
                )
                found += [self._stored(item) for item in page.get("Contents", ())]
                if not page.get("IsTruncated"):
                    break
                more = {"ContinuationToken": page["NextContinuationToken"]}
        return found

    def _stored(self, item: Mapping[str, Any]) -> StoredObject:
        return StoredObject(
            item["Key"][len(self._prefix) :], item["Size"], item["LastModified"].timestamp(), item["ETag"].strip('"')
        )

    async def delete(self, keys: Sequence[str]) -> None:
        object_args = [self._object_args(key)["Key"] for key in keys]
        for start in range(0, len(object_args), _DELETED_AT_ONCE):
            objects = [{"Key": name} for name in object_args[start : start + _DELETED_AT_ONCE]]
            with _translate_client_errors(keys[start]):
                answer = await self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})
            if errors := answer.get("Errors"):
                raise PlatformFault(f"the storage did not delete {len(errors)} objects: {errors[0].get('Message', '')}")

    async def presign(self, key: str, expires_s: int, filename: str = "") -> str | None:
        if not 1 <= expires_s <= _MAX_PRESIGNED_S:
            raise InvalidRequest(f"an address can be good for 1 to {_MAX_PRESIGNED_S} seconds, not {expires_s}")
        wanted = {**self._object_args(key)}
        if filename:
            wanted["ResponseContentDisposition"] = f"attachment; filename*=UTF-8''{quote(filename, safe='')}"
        with _translate_client_errors(key):
            return str(await self._signer.generate_presigned_url("get_object", Params=wanted, ExpiresIn=expires_s))

    async def check(self) -> None:
        try:
            with _translate_client_errors(self._bucket):
                await self._client.head_bucket(Bucket=self._bucket)
        except NotFound as error:
            raise Unavailable(f"the storage has no bucket {self._bucket!r}: create it") from error


@contextlib.contextmanager
def _translate_client_errors(key: str) -> Iterator[None]:
    """Errors of the client, and those of its connections that it lets through, as ours."""
    try:
        yield
    except ClientError as error:
        raise _to_sandbox_error(error, key) from error
    except (BotoCoreError, AioClientError, OSError, TimeoutError) as error:
        message = f"the storage does not answer: {error}"
        logging.getLogger(__name__).warning("%s", message)
        raise Unavailable("the storage does not answer; the server's log says why").with_private(message) from error


def _to_sandbox_error(error: ClientError, key: str) -> SandboxError:
    code = _code(error)
    if code == "NoSuchBucket":
        return Unavailable("the storage has no such bucket: create it")
    if code in _MISSING:
        return NotFound(f"the storage holds nothing under {show_name(key)}")
    if code in _REFUSED:
        return Unavailable(f"the storage refuses us ({code}): check the access key, its secret and its rights")
    return PlatformFault(f"the storage failed ({code}): {error.response.get('Error', {}).get('Message', '')}")


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
