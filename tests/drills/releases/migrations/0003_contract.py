from django.db import migrations


class Migration(migrations.Migration):
    """Moves the values that release 1 wrote to the column of release 2, and removes the column of release 1."""

    dependencies = (("releases", "0002_expand"),)
    operations = (
        migrations.RunSQL("UPDATE releases_visit SET route = path WHERE route = ''"),
        migrations.RemoveField("Visit", "path"),
    )
