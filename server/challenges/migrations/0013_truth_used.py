from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0012_phases_that_are_over_are_revealed")]

    operations = [
        migrations.AddField(
            model_name="truth",
            name="used",
            field=models.BooleanField(
                db_default=False, default=False, help_text="whether leaderboards have ever shown scores against it"
            ),
        ),
    ]
