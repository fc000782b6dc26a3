# SPDX-License-Identifier: Apache-2.0
"""Starts LocalStack on loopback only: its own server listens on every address of the
machine, whatever host GATEWAY_LISTEN names."""

import functools

from twisted.internet import endpoints

endpoints.TCP4ServerEndpoint = functools.partial(
    endpoints.TCP4ServerEndpoint, interface="127.0.0.1"
)

from localstack.runtime.main import main  # noqa: E402  (after the line above)

main()
