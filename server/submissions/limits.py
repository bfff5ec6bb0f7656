"""What a submitted file may hold: told on the data page, enforced by the worker."""

from django.conf import settings

from evaluator.catalog import Limits


def file_limits() -> Limits:
    return Limits(
        decompressed_bytes=settings.DECOMPRESSED_MAX_BYTES,
        decompressed_ratio=settings.DECOMPRESSED_MAX_RATIO,
        line_bytes=settings.LINE_MAX_BYTES,
        json_bytes=settings.JSON_MAX_BYTES,
        number_characters=settings.NUMBER_MAX_CHARACTERS,
        text_characters=settings.TEXT_MAX_CHARACTERS,
        boxes=settings.SUBMISSION_MAX_BOXES,
        images=settings.SUBMISSION_MAX_IMAGES,
    )
