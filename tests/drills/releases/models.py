"""The model of the app `releases`: one row for each request to the service."""

from django.db import models

from releases import COLUMN

Visit = type(
    "Visit",
    (models.Model,),
    {"__module__": __name__, COLUMN: models.CharField(max_length=200)},
)
