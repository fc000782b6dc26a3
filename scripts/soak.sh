#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The nightly soak: `make soak`. It starts the brokers that are not up, kills hundreds of
# workers on each, a run after another with seeds of their own, and stops at the first
# violation, whose history is kept. Then come the tests whose size HARNESS_SOAK raises.
#
#   HARNESS_SOAK_ENGINES  of kafka,sqs,rabbitmq: where; all by default
#   HARNESS_SOAK_REPEATS  how often, or forever; 6 by default, which is 216 kills a broker and variant
#   HARNESS_SOAK_OUT      where results and violations are kept; soaks/TIME by default
#   HARNESS_CACHE         the cache folder
set -u

cache=${HARNESS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/harness}
engines=${HARNESS_SOAK_ENGINES:-kafka,sqs,rabbitmq}
out=${HARNESS_SOAK_OUT:-soaks/$(date +%Y%m%d-%H%M%S)}
harness=$cache/bin/harness
export HARNESS_CACHE="$cache"
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

# up starts a broker unless it is up, and takes over its address.
up() { # engine
	"$harness" status | grep -q "^$1 " || started="$started $1"
	lines=$("$harness" up --env "$1") || return 1
	eval "$(printf '%s\n' "$lines" | sed "s/^export \([A-Z_]*\)=\(.*\)$/export \1='\2'/")"
}

mkdir -p "$cache/bin" "$(dirname "$out")" && go build -o "$harness" ./cmd/harness || exit 3
for engine in $(echo "$engines" | tr , ' '); do
	up "$engine" || exit 3
done

"$harness" run kill-soak --on "$engines" --provider external --repeat "${HARNESS_SOAK_REPEATS:-6}" --stop-on-violation --out "$out" || exit $?

# Among them are the predictions of 1,000 seeds for three repeats on each broker, which take the
# longest: a count outside of its prediction in all three fails.
# shellcheck disable=SC2046
HARNESS_SOAK=1 go test -count=1 -p 1 -v -timeout 8h \
	$(grep -rl --include='*_test.go' 'testenv\.Soak' . | xargs -n 1 dirname | sort -u) || exit 1
CONSUMERTEST_GOOD=10000 go test -count=1 -timeout 1h ./consumertest -run 'KnownGood|Styles'
