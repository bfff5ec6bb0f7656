"""A program for drill 13, a database test: several threads write to the service's database in many transactions.

`python -m tests.drills.writers THREADS WRITES` prints how many writes succeeded, and how often each error occurred.
"""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import django
from django.db import DatabaseError, connection, transaction


def write(writes: int) -> Counter[str]:
    """Increment a number in the database `writes` times, and count the successful increments and the errors.

    Each transaction reads the number and writes the incremented number. Without a lock, one of two simultaneous
    increments would be lost.
    """
    from server.challenges.models import Phase

    outcomes: Counter[str] = Counter()
    for _ in range(writes):
        try:
            with transaction.atomic():
                number = Phase.objects.values_list("split_seed", flat=True).get()
                Phase.objects.update(split_seed=number + 1)
            outcomes["written"] += 1
        except DatabaseError as error:
            outcomes[str(error)] += 1
    connection.close()
    return outcomes


if __name__ == "__main__":
    django.setup()
    threads, writes = map(int, sys.argv[1:])
    with ThreadPoolExecutor(threads) as pool:
        outcomes = sum(pool.map(write, [writes] * threads), Counter())
    for said, number in outcomes.items():
        print(number, said)
