from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0016_submission_idempotency_key")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="forced",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="whether it is scored even if no prediction in the file can score",
            ),
        ),
    ]
