from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0010_phase_ladder_margin_is_positive")]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="revealed_at",
            field=models.DateTimeField(
                blank=True,
                help_text="when others could first read its private scores; it cannot reopen after that",
                null=True,
            ),
        ),
    ]
