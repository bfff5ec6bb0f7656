from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboards', '0008_entries_of_team'),
    ]

    operations = [
        migrations.AlterField(
            model_name='board',
            name='listed',
            field=models.PositiveIntegerField(default=0, help_text='number of current entries, including baselines'),
        ),
        migrations.AlterField(
            model_name='board',
            name='ranked',
            field=models.PositiveIntegerField(default=0, help_text='number of current entries, excluding baselines'),
        ),
        migrations.AlterField(
            model_name='comparedentry',
            name='earlier',
            field=models.BigIntegerField(help_text="the evaluation of the team's entry a week ago", null=True),
        ),
        migrations.AlterField(
            model_name='comparison',
            name='content',
            field=models.CharField(blank=True, help_text='hash of the entries in the last comparison', max_length=64),
        ),
        migrations.AlterField(
            model_name='entry',
            name='valid_until',
            field=models.DateTimeField(help_text='empty for a current entry', null=True),
        ),
    ]
