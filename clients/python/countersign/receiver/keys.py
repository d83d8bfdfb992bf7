"""The service's keys, as a receiver of its releases knows them."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Callable, Dict, Mapping, Optional
from urllib.parse import urlsplit

from ..http import Exchange
from ..key_set import PublicKey, read_key_set

_LOGGER = logging.getLogger("countersign")

#: How old the keys may be that a release is checked by: for so long a key that was revoked is still believed.
_FRESH_SECONDS = 60
#: A key that is not known may be a new one. Invented ids cause no more requests than one in this time.
_UNKNOWN_AGAIN_SECONDS = 30
_KEYS_TIMEOUT_SECONDS = 5


class ServiceKeys:
    """The keys that a release may be signed by, of one service, named at the start: a release cannot choose where its signer is looked up.

    Fetched now and again: a rotation or a revocation is known after a minute at the latest. While the service does not answer, the keys that are known
    go on, with a warning of the logger ``countersign``. May be shared by threads.
    """

    def __init__(self, service: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Fetches them. Raises ValueError for a service that is neither https nor on this machine, CountersignError where it does not answer."""
        url = urlsplit(service)
        if url.scheme != "https" and url.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError(f"the service is {service}: its keys come by https, or from this machine")
        self._exchange = Exchange(service, api_key=None, timeout_seconds=_KEYS_TIMEOUT_SECONDS)
        self._clock = clock
        self._mutex = threading.Lock()
        self._keys = self._fetch()
        self._tried_at = clock()

    def find(self, key_id: str) -> Optional[PublicKey]:
        """None where the service has no such key, or has revoked it."""
        with self._mutex:
            age = self._clock() - self._tried_at
            if age > _FRESH_SECONDS or (age > _UNKNOWN_AGAIN_SECONDS and key_id not in self._keys):
                self._tried_at = self._clock()
                try:
                    self._keys = self._fetch()
                except Exception as error:  # whatever a service that is away, or something in its place, answers
                    _LOGGER.warning("The service's keys cannot be fetched, those that are known go on: %s", error)
            return self._keys.get(key_id)

    def _fetch(self) -> Dict[str, PublicKey]:
        answer = self._exchange.send("GET", "/.well-known/jwks.json", query={}, body=None, open_route=True)
        if answer.status != 200:
            raise answer.error()
        return _of_service(read_key_set(answer.value()))


class FixedKeys:
    """The keys of a saved answer of GET /.well-known/jwks.json. Raises UnusableKeySet for anything else."""

    def __init__(self, key_set: Any) -> None:
        self._keys = _of_service(read_key_set(key_set))

    def find(self, key_id: str) -> Optional[PublicKey]:
        return self._keys.get(key_id)


def _of_service(keys: Mapping[str, PublicKey]) -> Dict[str, PublicKey]:
    """A colon is in the ids of people's keys, which sign approvals: none of them may pass for the service. Somebody else may have a revoked key,
    and a release is always of now."""
    return {
        key_id: key
        for key_id, key in keys.items()
        if key.algorithm == "ed25519" and ":" not in key_id and key.revoked_at is None and key.passkey is None
    }
