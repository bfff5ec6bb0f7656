from django.db import migrations
from django.db.models import F


def as_shown(apps, schema_editor):
    """Mark every evaluation as published, because all scores were shown before ladder feedback existed."""
    apps.get_model('submissions', 'Evaluation').objects.filter(published=None).update(published=F('pk'))


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0004_evaluation_published'),
    ]

    operations = [
        migrations.RunPython(as_shown, migrations.RunPython.noop),
    ]
