"""A row for each request to the service, in three releases. `RELEASE` is the number of the release that runs.

Release 1 writes the column `path`. Release 2 writes `route` instead: its migration adds this column, and gives `path` a
default, so that both releases can run (expand). The migration of release 3 removes `path`, which release 2 no longer
needs (contract).
"""

import os

from django.db import models

RELEASE = int(os.environ["RELEASE"])
COLUMN = "path" if RELEASE == 1 else "route"

Visit = type(
    "Visit",
    (models.Model,),
    {"__module__": __name__, COLUMN: models.CharField(max_length=200)},
)
