# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by .ci/run: system packages, and the processes of a run.
# shellcheck disable=SC2154 # state is set there

# install_packages installs what is not there, by the package that has it.
install_packages() {
	local missing=() pair
	for pair in gcc:gcc gcc:libc6-dev make:make git:git java:default-jre-headless mvn:maven \
		chromium:chromium ip:iproute2 iptables:iptables debootstrap:debootstrap \
		dockerd:docker.io docker:docker.io docker-compose:docker-compose node:nodejs npm:npm; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
	done
	python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
	((${#missing[@]} > 0)) || { echo "all there" && return 0; }
	echo "installing ${missing[*]}"
	local apt=(apt-get -q -o DPkg::Lock::Timeout=600)
	export DEBIAN_FRONTEND=noninteractive
	{
		dpkg --configure -a # of a run that was killed
		"${apt[@]}" update
		without_services "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
	} >"$state/apt.log" 2>&1 || { tail -n 30 "$state/apt.log" && return 1; }
}

# without_services runs a command while no package may start a service.
without_services() {
	local policy=/usr/sbin/policy-rc.d code=0
	[ ! -e "$policy" ] || { "$@" && return; }
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	"$@" || code=$?
	rm -f "$policy"
	return "$code"
}

# marked lists the processes of this run and of one that was killed: what .ci/run started has
# its mark in the environment, brokers that run as local processes have their folder there. The
# container engine is left out; it has to end its containers itself.
marked() {
	local entry
	for entry in /proc/[0-9]*; do
		grep -qz "^HARNESS_\(CI_RUN\|NATIVE_DIR\)=$state\(/\|\$\)" "$entry/environ" 2>/dev/null || continue
		grep -qE '^(dockerd|containerd)' "$entry/comm" 2>/dev/null || echo "${entry#/proc/}"
	done
}

# end_processes kills the marked processes until none is left.
end_processes() {
	local pids try
	for try in {1..50}; do
		mapfile -t pids < <(marked)
		((${#pids[@]} > 0)) || return 0
		((try > 1)) || ps -o pid,args -p "$(IFS=,; echo "${pids[*]}")" | cut -c1-120
		kill -KILL "${pids[@]}" 2>/dev/null || true
		sleep 0.2
	done
	echo "processes ${pids[*]} do not end"
	return 1
}
