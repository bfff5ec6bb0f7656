from django.db import migrations, models


class Migration(migrations.Migration):
    """Add a column to the index of current entries, so that counts of entries need not read the table."""

    dependencies = [
        ("leaderboards", "0012_plainer_texts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                models.F("board"),
                models.OrderBy(models.F("score"), descending=True),
                models.F("submitted_at"),
                models.F("team"),
                models.F("is_baseline"),
                models.F("valid_until"),
                condition=models.Q(("valid_until", None)),
                name="present_entry_in_order",
            ),
        ),
        migrations.RemoveIndex(model_name="entry", name="entry_in_order"),
    ]
