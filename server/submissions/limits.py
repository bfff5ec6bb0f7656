"""What a submitted file may hold: told on the data page, enforced by the worker."""

from dataclasses import replace

from django.conf import settings

from evaluator.catalog import Limits

# What the author of a file reads that needs more time or memory than a scoring may use
ADVICE = "Submit fewer predictions: drop those of low confidence."
CHARGED = "This counts against your quota; the organizers can give it back."


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


def explanation_limits() -> Limits:
    """Return those of a file that is explained, which takes far more time and memory than its score."""
    limits = file_limits()
    return replace(limits, decompressed_bytes=min(limits.decompressed_bytes, settings.EXPLANATION_MAX_BYTES))
