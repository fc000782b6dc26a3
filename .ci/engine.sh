# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by .ci/run: the container engine, and the images in it. An engine that answers
# already is used as it is; one that is started here lives in the run's folder.
# shellcheck disable=SC2154 # state is set there

engine=$state/engine
cgroup=harness-ci # parent of all containers of the engine started here

# start_engine is no part: the address has to reach the parts after it.
start_engine() {
	if docker version >/dev/null 2>&1; then
		echo "a container engine answers"
		return
	fi
	export DOCKER_HOST=unix://$engine/docker.sock
	part "container engine" launch_engine
}

launch_engine() {
	mkdir -p "$engine"
	if ! docker version >/dev/null 2>&1; then
		clear_engine
		spawn_engine || { echo "starting over with an empty store" && clear_engine && rm -rf "$engine/data" && spawn_engine; }
	fi
	# Containers and networks of a run that was killed.
	docker ps -aq | xargs -r docker rm -f -v >/dev/null
	docker network prune -f >/dev/null
	docker version -f 'docker {{.Server.Version}}'
}

spawn_engine() {
	local device mtu
	device=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
	mtu=$(cat "/sys/class/net/${device:-lo}/mtu")
	[ -e "$engine/forward" ] || iptables -S FORWARD | sed -n 's/^-P FORWARD //p' >"$engine/forward"
	setsid dockerd -H "$DOCKER_HOST" --data-root "$engine/data" --exec-root "$engine/exec" \
		--pidfile "$engine/pid" --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$cgroup" --mtu "$((mtu > 1500 ? 1500 : mtu))" \
		>"$engine/log" 2>&1 </dev/null &
	for _ in {1..120}; do
		docker version >/dev/null 2>&1 && return
		sleep 0.25
	done
	tail -n 20 "$engine/log"
	return 1
}

# stop_engine asks the engine that was started here to end, which ends its containers, and
# takes back what it did to the network: its bridge, its chains, and the policy that would
# stop routing between other networks of this machine.
stop_engine() {
	[ -e "$engine/pid" ] || return 0
	local pid
	pid=$(cat "$engine/pid")
	kill "$pid" 2>/dev/null || true
	for _ in {1..80}; do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.25
	done
	clear_engine
	ip link del docker0 2>/dev/null || true
	[ ! -s "$engine/forward" ] || iptables -P FORWARD "$(cat "$engine/forward")"
	rm -f "$engine/forward"
	iptables-save | grep -v -e DOCKER -e docker0 -e ' br-' | iptables-restore
}

# clear_engine ends an engine that does not answer, and everything it left behind.
clear_engine() {
	local entry pids
	for _ in {1..50}; do
		pids=()
		for entry in /proc/[0-9]*; do
			grep -qz "^$engine\|^unix://$engine" "$entry/cmdline" 2>/dev/null &&
				grep -qE '^(dockerd|containerd)' "$entry/comm" 2>/dev/null && pids+=("${entry#/proc/}")
		done
		mapfile -t -O "${#pids[@]}" pids < <(find /sys/fs/cgroup -path "*/$cgroup/*" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -un)
		((${#pids[@]} > 0)) || break
		kill -KILL "${pids[@]}" 2>/dev/null || true
		sleep 0.2
	done
	awk -v dir="$engine/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount -l
	rm -rf --one-file-system "$engine/exec"
	rm -f "$engine/pid" "$engine/docker.sock"
}

# provide_images builds the images of the brokers and writes their names. A run that was killed
# may have spoiled what they are built from: they are then built from nothing, once.
provide_images() {
	.ci/images/build.sh "$state/images" >"$state/images.env.new" || {
		echo "once more, from nothing"
		rm -rf "$state/images/maven"
		[ "${DOCKER_HOST:-}" != "unix://$engine/docker.sock" ] || docker system prune -af >/dev/null
		.ci/images/build.sh "$state/images" >"$state/images.env.new"
	}
	mv "$state/images.env.new" "$state/images.env"
	cat "$state/images.env"
}
