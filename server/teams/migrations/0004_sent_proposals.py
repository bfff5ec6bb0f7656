from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('challenges', '0022_clearer_help_texts'),
        ('teams', '0003_clearer_help_texts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='sentinvitation',
            name='is_merge',
            field=models.BooleanField(db_default=False, default=False, help_text='whether a merge of teams was proposed'),
        ),
        migrations.RemoveConstraint(
            model_name='sentinvitation',
            name='one_sent_invitation_per_pair',
        ),
        migrations.AddConstraint(
            model_name='sentinvitation',
            constraint=models.UniqueConstraint(fields=('sender', 'recipient', 'challenge', 'is_merge'), name='one_sent_contact_per_pair'),
        ),
    ]
