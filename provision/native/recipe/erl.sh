#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes the place of Erlang's own start script, which knows only the folder it is packaged for.
ROOTDIR=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
BINDIR=$(echo "$ROOTDIR"/erts-*/bin)
EMU=beam
PROGNAME=erl
export ROOTDIR BINDIR EMU PROGNAME
exec "$BINDIR/erlexec" "$@"
