#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Verifies one of the examples: examples/verify.sh EXAMPLE naive|mended [FLAG...]
# What an example needs (a virtual environment, node modules, a jar) is put into the cache
# folder, once, in the versions that are pinned beside it. HARNESS names the harness; it is
# built where it is not set.
set -eu
cd "$(dirname "$0")/.."

[ $# -ge 2 ] || { echo "usage: examples/verify.sh EXAMPLE naive|mended [FLAG...]" >&2; exit 64; }
example=$1
mode=$2
shift 2
here=examples/$example
[ -f "$here/verify.yaml" ] || { echo "no example $example: $(cd examples && echo */)" >&2; exit 64; }
case $mode in naive | mended) ;; *) echo "$mode is neither naive nor mended" >&2; exit 64 ;; esac

cache=${HARNESS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/harness}
made=$cache/examples/$example
mkdir -p "$made" "$cache/bin"
if [ -z "${HARNESS:-}" ]; then
	HARNESS=$cache/bin/harness
	go build -o "$HARNESS" ./cmd/harness
fi

# fresh: what was made before is not of these versions.
fresh() { ! cmp -s "$1" "$made/made-of"; }
done_with() { cp "$1" "$made/made-of"; }

# command sets the program that is started, without its mode.
case $example in
go-*)
	go build -o "$made/consumer" "./$here"
	command=$made/consumer
	;;
python-*)
	if fresh "$here/requirements.txt"; then
		rm -rf "$made/venv"
		python3 -m venv "$made/venv"
		"$made/venv/bin/pip" --quiet --disable-pip-version-check install -r "$here/requirements.txt"
		done_with "$here/requirements.txt"
	fi
	command="$made/venv/bin/python $here/consumer.py"
	;;
node-*)
	if fresh "$here/package-lock.json"; then
		cp "$here/package.json" "$here/package-lock.json" "$made/"
		npm ci --silent --prefix "$made"
		done_with "$here/package-lock.json"
	fi
	cp "$here"/*.mjs "$made/"
	command="node $made/consumer.mjs"
	;;
java-*)
	mvn --quiet --batch-mode -f "$here/pom.xml" -DbuildDirectory="$made/target" process-classes
	command="java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -cp $made/target/classes:$made/target/lib/* Consumer"
	;;
esac

# shellcheck disable=SC2086
exec "$HARNESS" verify --file "$here/verify.yaml" "$@" -- $command "$mode"
