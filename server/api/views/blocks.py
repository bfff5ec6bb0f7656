"""API views that let organizers block people from joining a challenge."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import organized_challenge_at
from server.api.pagination import Pages, list_response
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.blocks import BlockInput, BlockSerializer
from server.api.serializers.inputs import validated
from server.challenges import blocking
from server.challenges.models import Block


class Blocks(APIView):
    scope = ApiToken.Scope.ORGANIZE
    pagination_class = Pages

    @extend_schema(
        operation_id="list_blocks",
        parameters=[PAGE],
        responses={200: BlockSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str) -> Response:
        """List the people who are blocked from joining a challenge, newest block first. For organizers."""
        challenge = organized_challenge_at(request, slug)
        blocks = Block.objects.filter(challenge=challenge).select_related("user")
        return list_response(blocks, request, lambda page: BlockSerializer(page, many=True).data)

    @extend_schema(
        operation_id="block_person",
        request=BlockInput,
        responses={201: BlockSerializer, **refusals("not_found", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str) -> Response:
        """Block a person from joining a challenge. For organizers.

        A person who is already in a team stays in it.
        """
        challenge = organized_challenge_at(request, slug)
        found = blocking.block(challenge=challenge, by=request.user, **validated(BlockInput, request))
        return Response(BlockSerializer(found).data, status=201)


class OneBlock(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(operation_id="unblock_person", responses={204: None, **refusals("not_found", *COUNTED)})
    def delete(self, request: PersonRequest, slug: str, block_id: int) -> Response:
        """Remove a block, so that the person can join the challenge again. For organizers."""
        challenge = organized_challenge_at(request, slug)
        found = get_object_or_404(Block, pk=block_id, challenge=challenge)
        blocking.unblock(block=found, by=request.user)
        return Response(status=204)
