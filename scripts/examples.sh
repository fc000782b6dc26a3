#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make examples`: the consumers of examples/, verified on real brokers, which are started
# where they do not run and stopped on every way out. HARNESS_REQUIRE (kafka, sqs, rabbitmq,
# python3, java, mvn, node, npm, postgres) names what may not be missing.
set -u

cache=${HARNESS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/harness}
harness=$cache/bin/harness
started=""

clean_up() {
	code=$?
	trap - EXIT INT TERM HUP
	# shellcheck disable=SC2086
	[ -z "$started" ] || "$harness" down $started || code=3
	exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

mkdir -p "$cache/bin" && go build -o "$harness" ./cmd/harness || exit 3
for engine in kafka sqs rabbitmq; do
	"$harness" status | grep -q "^$engine " || started="$started $engine"
	lines=$("$harness" up --env "$engine") || continue # its examples are skipped, or required
	eval "$(printf '%s\n' "$lines" | sed "s/^export \([A-Z_]*\)=\(.*\)$/export \1='\2'/")"
done
go test -count=1 -timeout 20m -v ./examples/...
