from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("challenges", "0005_team_served_at"),
    ]

    operations = [
        migrations.AddField(
            model_name='challenge',
            name='allowed_domains',
            field=models.CharField(blank=True, help_text='Mail domains, separated by spaces: only people with a confirmed address at one of them can join.', max_length=1000),
        ),
        migrations.AddField(
            model_name='challenge',
            name='registration',
            field=models.CharField(choices=[('open', 'open'), ('approval', 'approval: an organizer approves each member')], default='open', max_length=10),
        ),
    ]
