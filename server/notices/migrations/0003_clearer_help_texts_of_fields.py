from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notices', '0002_notices_of_requests'),
    ]

    operations = [
        migrations.AlterField(
            model_name='event',
            name='key',
            field=models.CharField(help_text='identifies the event among all events of its kind', max_length=120),
        ),
        migrations.AlterField(
            model_name='event',
            name='path',
            field=models.CharField(help_text='URL of the page to which the notice links', max_length=200),
        ),
        migrations.AlterField(
            model_name='notice',
            name='mail_at',
            field=models.DateTimeField(help_text='when the next attempt to send its email begins; empty if there is none', null=True),
        ),
    ]
