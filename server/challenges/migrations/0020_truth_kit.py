from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0019_ladder_margin_message")]

    operations = [
        migrations.AddField(
            model_name="truth",
            name="kit",
            field=models.FileField(
                blank=True,
                db_default="",
                default="",
                upload_to="kits/",
            ),
        ),
        migrations.AddField(
            model_name="truth",
            name="kit_made_with",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
