"""A file is small until a scoring of it shows what it costs. Only the help text changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0009_rerun_leased")]

    operations = [
        migrations.AlterField(
            model_name="submission",
            name="small",
            field=models.BooleanField(
                db_default=False, default=False, help_text="by its unpacked size, and by what a scoring of it took"
            ),
        ),
    ]
