from django.db import migrations


class Migration(migrations.Migration):
    """Moves the values that release 1 wrote, and removes its column."""

    dependencies = (("releases", "0002_expand"),)
    operations = (
        migrations.RunSQL("UPDATE releases_visit SET route = path WHERE route = ''"),
        migrations.RemoveField("Visit", "path"),
    )
