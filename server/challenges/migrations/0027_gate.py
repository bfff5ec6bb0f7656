from django.db import migrations, models


def exempt_existing_phases(apps, schema_editor):
    """Allow existing phases to accept submissions without passing the gate, the automatic checks of ground truths."""
    apps.get_model("challenges", "Phase").objects.update(gate_exempt=True)


class Migration(migrations.Migration):
    dependencies = [("challenges", "0026_clearer_help_texts_of_fields")]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="gate_exempt",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name="truth",
            name="gate",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
        migrations.RunPython(exempt_existing_phases, migrations.RunPython.noop),
    ]
