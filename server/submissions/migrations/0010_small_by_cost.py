"""Changes the help text of the field `small`. Whether a file is small now also depends on the cost of scoring it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0009_rerun_leased")]

    operations = [
        migrations.AlterField(
            model_name="submission",
            name="small",
            field=models.BooleanField(
                db_default=False, default=False, help_text="depends on its unpacked size, and on the time and memory that scoring it took"
            ),
        ),
    ]
