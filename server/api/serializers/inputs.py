"""What is sent is taken by the letter: no further names, and no value of another type that would have to be guessed at.

A misspelt name would otherwise do nothing, silently; and `"final": 0` would be a guess.
"""

from typing import Any

from rest_framework import serializers


class Input(serializers.Serializer[Any]):
    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            known = " and ".join(self.fields)
            raise serializers.ValidationError({str(unknown[0]): f"There is no such field. Fields are {known}."})
        return super().to_internal_value(data)


class Text(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Whole(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int and not (isinstance(data, float) and data.is_integer()):  # 1.0 is whole in JSON Schema
            self.fail("invalid")
        return int(data)
