from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('challenges', '0025_team_counts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='challenge',
            name='allowed_domains',
            field=models.CharField(blank=True, help_text='Email domains, separated by spaces. Only people with a confirmed address at one of these domains can join.', max_length=1000),
        ),
        migrations.AlterField(
            model_name='challenge',
            name='contact',
            field=models.CharField(blank=True, db_default='', default='', help_text='an email address or the URL of a page', max_length=200),
        ),
        migrations.AlterField(
            model_name='challenge',
            name='visibility',
            field=models.CharField(choices=[('public', 'public'), ('unlisted', 'unlisted: anybody who knows the URL'), ('private', 'private: members only')], default='public', max_length=10),
        ),
    ]
