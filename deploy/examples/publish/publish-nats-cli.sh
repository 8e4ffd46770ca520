#!/bin/sh
# Publishes a request with the nats command line client, prints the answer to it, and the next event of the runs of this user.
#
#   ORRERY_NATS_SEED_FILE=external.seed sh publish-nats-cli.sh request.json
#
# A request that is published is not signed: it is of the system that alone may publish on its subject.
set -eu
server=${ORRERY_NATS_URL:-nats://127.0.0.1:4222}
id=$(sed -n 's/.*"requestId": *"\([A-Za-z0-9_-]*\)".*/\1/p' "$1" | head -n 1)
bus() { nats --server "$server" --nkey "$ORRERY_NATS_SEED_FILE" --inbox-prefix _INBOX_external "$@"; }
bus sub "orrery.answer.$id" --count 1 --raw &
sleep 1
bus request orrery.requests --timeout 6s "$(cat "$1")"
wait
bus --js-domain orrery consumer next FEED external --raw
