import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Add a model for the existing table of organizers, with a role for each organizer. All existing organizers become owners."""

    dependencies = [
        ("challenges", "0027_gate"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Organizer",
                    fields=[
                        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                        (
                            "challenge",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="organizer_roles",
                                to="challenges.challenge",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="organizer_roles",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "db_table": "challenges_challenge_organizers",
                        "unique_together": {("challenge", "user")},
                    },
                ),
                migrations.AlterField(
                    model_name="challenge",
                    name="organizers",
                    field=models.ManyToManyField(
                        blank=True,
                        related_name="organized_challenges",
                        through="challenges.Organizer",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="organizer",
            name="role",
            field=models.CharField(
                choices=[("owner", "owner"), ("editor", "editor"), ("viewer", "viewer")],
                db_default="owner",
                default="owner",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="organizer",
            name="given_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
