#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts Erlang from where it was unpacked: the packaged script knows only its installed place.
ROOTDIR=$ERL_ROOTDIR
BINDIR=$(echo "$ROOTDIR"/erts-*/bin)
EMU=beam
PROGNAME=erl
export ROOTDIR BINDIR EMU PROGNAME
exec "$BINDIR/erlexec" "$@"
