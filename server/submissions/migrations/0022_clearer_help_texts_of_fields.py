from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0021_submission_ended_lately'),
    ]

    operations = [
        migrations.AlterField(
            model_name='quotaentry',
            name='day',
            field=models.DateField(help_text='the day (UTC) whose quota the entry changes'),
        ),
    ]
