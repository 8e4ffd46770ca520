#!/bin/sh
# Publishes a request with the nats command line client.
#
#   ORRERY_NATS_SEED_FILE=external.seed sh publish-nats-cli.sh request.json
set -eu
server=${ORRERY_NATS_URL:-nats://127.0.0.1:4222}
nats --server "$server" --nkey "$ORRERY_NATS_SEED_FILE" --inbox-prefix _INBOX_external \
  request orrery.submit --timeout 6s "$(cat "$1")"
