#!/bin/sh
# Publishes a request over HTTP and follows its run as server-sent events.
#
#   ORRERY_TOKEN_FILE=console.token sh publish-curl.sh request.json
#
# The token is read by curl from a file, so that it is in no argument list. ORRERY_CONSOLE_URL defaults to port 8080 here.
set -eu
console=${ORRERY_CONSOLE_URL:-http://127.0.0.1:8080}
config=$(mktemp)
trap 'rm -f "$config"' EXIT
chmod 600 "$config"
printf 'header = "Authorization: Bearer %s"\n' "$(cat "$ORRERY_TOKEN_FILE")" >"$config"

answer=$(curl -sS --config "$config" -H 'Content-Type: application/json' --data-binary "@$1" "$console/v1/requests")
echo "$answer"
run=$(printf '%s' "$answer" | sed -n 's/.*"runId":"\([A-Za-z0-9_-]*\)".*/\1/p')
[ -n "$run" ] || exit 3
curl -sSN --config "$config" "$console/v1/runs/$run/events"
