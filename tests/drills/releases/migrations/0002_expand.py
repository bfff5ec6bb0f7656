from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds a column, and keeps the column that release 1 needs."""

    dependencies = (("releases", "0001_initial"),)
    operations = (
        migrations.AddField("Visit", "route", models.CharField(max_length=200, db_default="")),
        migrations.AlterField("Visit", "path", models.CharField(max_length=200, db_default="")),
    )
