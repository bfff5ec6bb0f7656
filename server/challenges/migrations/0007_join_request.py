import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("challenges", "0006_registration_and_mail_domains"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='JoinRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team_name', models.CharField(blank=True, max_length=80)),
                ('status', models.CharField(choices=[('waiting', 'waiting for approval'), ('declined', 'declined')], default='waiting', max_length=10)),
                ('rules_accepted_at', models.DateTimeField()),
                ('requested_at', models.DateTimeField(auto_now_add=True)),
                ('challenge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='join_requests', to='challenges.challenge')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='join_requests', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('requested_at',),
                'constraints': [models.UniqueConstraint(fields=('challenge', 'user'), name='one_request_per_person_and_challenge')],
            },
        ),
    ]
