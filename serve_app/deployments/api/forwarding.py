"""A request on its way to the chosen models' providers, and their answer back (API-1, API-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from serve_app.config.schema.providers import ProviderModel
from serve_app.deployments.api.exchange import Exchange
from serve_app.deployments.api.streams import gathered, relayed, translated
from serve_app.errors import RouterError
from serve_app.providers.answers import Call, StreamAnswer, WholeAnswer
from serve_app.providers.chat import ChatProviders, UnansweredError
from serve_app.wire.answer import EVENT_STREAM, JSON, WireAnswer, WireStream
from serve_app.wire.body import json_bytes
from serve_app.wire.format import Format, Head
from serve_app.wire.formats import FORMATS
from serve_app.wire.neutral.conversation import Conversation
from serve_app.wire.neutral.events import Event
from serve_app.wire.translation import StreamTranslator, read_whole, write_stream, write_whole


@dataclass(frozen=True, slots=True)
class Forwarded:
    """``model``: whose answer it is. ``lost``: what of the request its provider's format has no
    place for."""

    answer: WireAnswer | WireStream
    model: str
    lost: tuple[str, ...] = ()


class Forwarding:
    """``models``: every chat model of the configuration, by name."""

    def __init__(self, providers: ChatProviders, models: Mapping[str, ProviderModel]) -> None:
        self._providers = providers
        self._models = models

    async def forward(
        self, exchange: Exchange, client: Format, head: Head, models: Sequence[str]
    ) -> Forwarded:
        """The answer of the first of ``models`` that gives one, in the client's format.

        ``UnansweredError`` where no provider said anything that can be told, ``RouterError``
        (``invalid_request``) for a body that is malformed where another format has to say it.
        """
        encoder = _Encoder(client, head)
        answer = await self._providers.complete(
            models, encoder.call, exchange.headers, exchange.deadline
        )
        model = self._models[answer.model]
        provider = FORMATS[model.wire_format]
        lost = encoder.lost.get(model.name, ())
        if isinstance(answer, WholeAnswer) and answer.status >= 400:
            return Forwarded(_refused(answer, client), model.name)
        if provider is client:
            return Forwarded(_relayed(answer, client, exchange.deadline), model.name)
        said = replace(head, model=model.upstream_id)
        try:
            whole_or_stream = await _translated(answer, provider, client, said, exchange.deadline)
        except RouterError as error:
            raise UnansweredError(error.code, error.message, model.name) from None
        return Forwarded(whole_or_stream, model.name, lost)


class _Encoder:
    """The client's body as it is for a model of the same format, written anew for any other."""

    def __init__(self, client: Format, head: Head) -> None:
        self._client = client
        self._body = head.request.body
        self._conversation: Conversation | None = None
        self.lost: dict[str, tuple[str, ...]] = {}

    def call(self, model: ProviderModel) -> Call:
        provider = FORMATS[model.wire_format]
        if provider is self._client:
            return Call(provider.upstream_body(self._body, model.upstream_id))
        if self._conversation is None:
            self._conversation = self._client.read_conversation(self._body)
        written = provider.write_request(self._conversation, model.upstream_id)
        self.lost[model.name] = written.lost
        return Call(json_bytes(written.body), relayed=False)


def _refused(answer: WholeAnswer, client: Format) -> WireAnswer:
    """A provider's error, with its status, in the client's format (API-5)."""
    body = client.provider_error(answer.status, answer.body)
    if body is answer.body:
        return WireAnswer(answer.status, body, answer.headers)
    rest = {name: value for name, value in answer.headers.items() if name != "content-encoding"}
    return WireAnswer(answer.status, body, {**rest, "content-type": JSON})


def _relayed(
    answer: WholeAnswer | StreamAnswer, client: Format, deadline: float | None
) -> WireAnswer | WireStream:
    if isinstance(answer, WholeAnswer):
        return WireAnswer(answer.status, answer.body, answer.headers)
    events = relayed(answer, client, deadline)
    return WireStream(answer.status, events, answer.headers, answer.chunks.aclose)


async def _translated(
    answer: WholeAnswer | StreamAnswer,
    provider: Format,
    client: Format,
    head: Head,
    deadline: float | None,
) -> WireAnswer | WireStream:
    """As the client asked for it, stream or not, whichever the provider chose.

    ``RouterError`` (``provider_failed``) for what is no answer.
    """
    if isinstance(answer, StreamAnswer) and head.request.stream:
        translator = StreamTranslator(provider.answer_reader(), client.writer(head), client)
        events = translated(answer, translator, deadline)
        headers = {**answer.headers, "content-type": EVENT_STREAM}
        return WireStream(answer.status, events, headers, answer.chunks.aclose)
    said = (
        read_whole(provider, answer.body)
        if isinstance(answer, WholeAnswer)
        else await gathered(answer, provider, deadline)
    )
    whole = write_whole(client, said, head)
    if whole.status < 400 and head.request.stream:
        return _streamed(said, client, head, answer.headers)
    return WireAnswer(whole.status, whole.body, {**answer.headers, "content-type": JSON})


def _streamed(
    said: Sequence[Event], client: Format, head: Head, headers: Mapping[str, str]
) -> WireStream:
    stream = write_stream(client, said, head)
    return WireStream(200, stream, {**headers, "content-type": EVENT_STREAM}, stream.aclose)
