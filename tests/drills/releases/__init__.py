"""A Django app in three releases, which are installed beside the service by drill 35. `RELEASE` is the number of one.

Release 1 writes the column `path`. Release 2 writes `route` instead: its migration adds this column, and gives `path` a
default, so that both releases can run (expand). The migration of release 3 removes `path`, which release 2 no longer
needs (contract).
"""

import os

RELEASE = int(os.environ["RELEASE"])
COLUMN = "path" if RELEASE == 1 else "route"
