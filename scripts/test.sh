#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The test command: `make test`. It needs Go, git and make, and writes only to the cache
# folders of the harness and of Go. Each broker is started once, tested one package at a time
# and stopped on every way out; containers come last, when the brokers before are down. What
# could not be covered is said loudly at the end.
#
#   HARNESS_REQUIRE     of kafka,sqs,rabbitmq,docker,chromium,race: what may not be missing
#   HARNESS_DOCKER      1 where containers may be started (images are pulled if they are not here)
#   HARNESS_CACHE       the cache folder
#   HARNESS_TEST_FLAGS  more flags for go test
set -u

cache=${HARNESS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/harness}
mkdir -p "$cache/bin" "$cache/tmp" || exit 3
find "$cache/tmp" -maxdepth 1 -name 'test.*' -mtime +1 -exec rm -rf {} + # of runs that were killed
TMPDIR=$(mktemp -d "$cache/tmp/test.XXXXXX") || exit 3
HARNESS_UNCOVERED=$TMPDIR/uncovered
export TMPDIR HARNESS_UNCOVERED HARNESS_CACHE="$cache"
: >"$HARNESS_UNCOVERED"
harness=$cache/bin/harness
started=""
raced=""
failures=""
times=""
began=$(date +%s)

say() { printf '\n== %s\n' "$*"; }
requires() { case ",${HARNESS_REQUIRE:-}," in *",$1,"*) true ;; *) false ;; esac; }

clean_up() {
	code=$?
	trap - EXIT INT TERM HUP
	down || code=3
	rm -rf "$TMPDIR"
	exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# part runs a command under a title and takes its time. Parts go on after a failure, so that
# one run shows them all.
part() { # title, command
	say "$1"
	title=$1 from=$(date +%s)
	shift
	"$@" || failures="$failures
  $title"
	times="$times
  $(($(date +%s) - from)) s	$title"
}

# tests runs go test. The race detector has a part of its own, and is not missed in the others.
# shellcheck disable=SC2086
tests() {
	HARNESS_REQUIRE=$(printf '%s' "${HARNESS_REQUIRE:-}" | tr , '\n' | grep -vx race | tr '\n' ,) \
		go test ${HARNESS_TEST_FLAGS:-} "$@"
}

# lacks notes what the whole run goes without, and fails if it is required.
lacks() { # name, why
	printf '%s\tthe whole run\t%s\n' "$1" "$2" >>"$HARNESS_UNCOVERED"
	! requires "$1" || { echo "$1 is required but missing: $2" && return 1; }
}

# up starts a broker and takes over its address. Where containers are tested by themselves,
# the brokers of the other parts are local processes.
up() { # engine, flags of harness up
	engine=$1
	shift
	if "$harness" status "$@" | grep -q "^$engine "; then
		lines=$("$harness" up "$@" --env "$engine") || return 1
	else
		lines=$("$harness" up "$@" --env "$engine") || return 1
		started="$started $engine"
	fi
	eval "$(printf '%s\n' "$lines" | sed "s/^export \([A-Z_]*\)=\(.*\)$/export \1='\2'/")"
}

brokers() {
	code=0
	for engine in kafka sqs rabbitmq; do
		up "$engine" ${HARNESS_DOCKER:+--provider=native} ||
			lacks "$engine" "no provider could bring it up (see above)" || code=1
	done
	return "$code"
}

# down stops what this run started and forgets the addresses.
down() {
	[ -n "$started" ] || return 0
	# shellcheck disable=SC2086
	"$harness" down $started || return 1
	started=""
	for engine in KAFKA SQS RABBITMQ; do
		unset "HARNESS_$engine" "HARNESS_${engine}_ADMIN" "HARNESS_${engine}_VERSION" "HARNESS_${engine}_SETTINGS"
	done
}

races() {
	if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
		lacks race "needs cgo and a C compiler"
		return
	fi
	raced=1
	# Brokers are down here, and were not missed when they were up.
	HARNESS_REQUIRE=race HARNESS_UNCOVERED="" go test -race -short -timeout 15m \
		./broker/... ./checkers/... ./clock/... ./consumertest/... ./effects/... ./faults/... \
		./history/... ./inmem/... ./provision/local ./runner/...
}

# containers: the provider and the Compose file, then the adapters on the brokers of the
# images, whose versions are others than those of the local processes.
containers() {
	tests -count=1 -p 1 -timeout 15m ./provision/docker/... || return 1
	[ -n "${HARNESS_DOCKER:-}" ] || { lacks docker "HARNESS_DOCKER is not set" && return; }
	up rabbitmq --provider=docker || return 1
	tests -count=1 -p 1 -timeout 15m ./adapters/rabbitmq/...
	code=$?
	down && return "$code"
}

# summary says what failed, what was not covered and how long the parts took.
summary() {
	say "summary"
	printf 'times:%s\n  %s s\tin all\n' "$times" "$(($(date +%s) - began))"
	# What is missing, why, and how many tests went without it.
	uncovered=$(awk -F '\t' -v raced="$raced" '
		$1 == "race" && raced { next }
		$2 == "the whole run" { whole[$1] = $3; n[$1] += 0; next }
		{ n[$1]++; why[$1] = $3 }
		END { for (what in n) printf "  %-9s %s (%d tests)\n", what, what in whole ? whole[what] : why[what], n[what] }
	' "$HARNESS_UNCOVERED" | sort)
	if [ -n "$uncovered" ]; then
		printf '%s\n' "NOT COVERED HERE:" "$uncovered"
	else
		echo "everything was covered"
	fi
	if [ -n "$failures" ]; then
		echo "FAILED:$failures"
		exit 1
	fi
	echo "all tests passed"
}

say "build"
go build -o "$harness" ./cmd/harness || exit 1
part "vet" go vet ./...

# Packages that talk to brokers are tested one at a time, the others together.
talking="./adapters/... ./internal/suite/... ./cmd/..."
quiet=$(go list ./... | grep -v -e /adapters/ -e /internal/suite -e /cmd/ -e /examples -e /provision/docker -e /provision/native)

# shellcheck disable=SC2086
part "packages without brokers" tests -timeout 15m $quiet
part "brokers" brokers
local_processes=$("$harness" status | grep -c ' by native at ')
# shellcheck disable=SC2086
part "packages with brokers, one at a time" tests -count=1 -p 1 -timeout 20m $talking
part "examples" tests -count=1 -timeout 15m ./examples/...
part "brokers down" down
[ "$local_processes" = 0 ] || export HARNESS_NATIVE=1 # they have been downloaded
part "local processes" tests -count=1 -timeout 15m ./provision/native/...
part "race detector" races
part "containers" containers
summary
