from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = (
        migrations.CreateModel(
            "Visit", [("id", models.BigAutoField(primary_key=True)), ("path", models.CharField(max_length=200))]
        ),
    )
