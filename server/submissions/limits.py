"""Limits for submitted files. The data page lists them, and the worker enforces them."""

from django.conf import settings

from evaluator.catalog import Limits

ADVICE = "Submit fewer predictions: leave out those with low confidence."
CHARGED = "This submission counts against your quota; the organizers can give the quota back."


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
