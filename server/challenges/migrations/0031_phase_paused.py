from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0030_tested_sample")]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="paused_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="phase",
            name="resumed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="phase",
            name="pause_reason",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=300),
        ),
    ]
