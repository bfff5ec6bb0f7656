from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0014_truth_sha256_unique_in_phase")]

    operations = [
        migrations.AddField(
            model_name="truth",
            name="prepared_with",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
