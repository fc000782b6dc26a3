#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the broker images of the docker tests where no container registry can be reached,
# from the package mirrors that this machine is set up to use:
#
#   images/build.sh STATE      STATE is a folder for what is half done; needs root and docker
#
# An image that has been built from the same files is kept. Versions are those that
# docker-compose.yml names. Prints NAME=IMAGE lines for the environment of the tests.
set -Eeuo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=${1:?usage: images/build.sh STATE}
compose=$here/../../docker-compose.yml
suite=trixie # the Debian whose packages have RabbitMQ 4
export DOCKER_BUILDKIT=0

# version ENGINE is the number in the tag of the engine's image in docker-compose.yml.
version() { sed -n "s/.*HARNESS_DOCKER_IMAGE_$1:-[^:]*:\([0-9.]*\).*/\1/p" "$compose"; }

# checksum of the files and words that decide what an image holds.
checksum() {
	local dir=$1
	shift
	{
		printf '%s\n' "$@"
		cd "$dir"
		find . -type f | sort | xargs sha256sum
	} | sha256sum | cut -c1-16
}

# image NAME DIR STAMP PREPARE builds DIR unless an image with the stamp is there. PREPARE
# is called with the build's context to add what is not in DIR.
image() {
	local name=$1 dir=$2 stamp=$3 prepare=$4 context=$state/context
	[ "$(docker image inspect -f '{{index .Config.Labels "stamp"}}' "$name" 2>/dev/null)" = "$stamp" ] && return
	local start=$SECONDS
	rm -rf "$context"
	cp -r "$dir" "$context"
	"$prepare" "$context"
	docker build --quiet --force-rm --label "stamp=$stamp" -t "$name" "$context" >/dev/null 2>"$state/build.log" ||
		{ tail -n 40 "$state/build.log" >&2 && return 1; }
	rm -rf "$context"
	echo "built $name in $((SECONDS - start)) s" >&2
}

mirror() {
	apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Identifier: Packages' |
		awk -v host="$(. /etc/os-release && echo "$VERSION_CODENAME")" '$1 == host { print $2; exit }'
}

# settings fills DIR with the package settings of this machine, for use inside the images.
settings() {
	mkdir -p "$1/etc/apt/sources.list.d" "$1/etc/apt/apt.conf.d" "$1/usr/local/share/ca-certificates"
	echo "deb $(mirror) $suite main" >"$1/etc/apt/sources.list"
	grep -lsE '^ *Acquire::' /etc/apt/apt.conf.d/* | xargs -r cp -t "$1/etc/apt/apt.conf.d"
	find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$1/usr/local/share/ca-certificates" {} +
	[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$1/etc"
}

# unmount what an interrupted debootstrap left mounted below DIR, so that it can be removed.
unmount() {
	awk -v dir="$1/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount -l
}

base_context() {
	local root=$state/root
	unmount "$root"
	rm -rf --one-file-system "$root"
	debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$(mirror)" >"$state/debootstrap.log" 2>&1 ||
		{ tail -n 20 "$state/debootstrap.log" >&2 && return 1; }
	rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/usr/share/{doc,man,locale}/*
	mkdir -p "$root/usr/share/man/man1" # packages of Java link pages there
	printf 'path-exclude=/usr/share/%s/*\n' doc man locale >"$root/etc/dpkg/dpkg.cfg.d/small"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod 755 "$root/usr/sbin/policy-rc.d"
	tar -C "$root" --exclude='./dev/*' -cf "$1/root.tar" .
	rm -rf --one-file-system "$root"
	settings "$1/settings"
}

kafka_context() {
	mvn -q -B -f "$1/pom.xml" "-Dkafka.version=$(version KAFKA)" "-Dmaven.repo.local=$state/maven" \
		dependency:copy-dependencies -DoutputDirectory="$1/libs" >"$state/maven.log" 2>&1 ||
		{ tail -n 20 "$state/maven.log" >&2 && return 1; }
}

nothing_more() { :; }

mkdir -p "$state"
rm -rf "$state/settings"
settings "$state/settings"
base=$(checksum "$here/base" "$(sha256sum <"$here/build.sh")" "$(checksum "$state/settings")")
kafka=harness-ci/kafka:$(version KAFKA)
sqs=harness-ci/localstack:$(version SQS)
rabbitmq=harness-ci/rabbitmq:$(version RABBITMQ)

image harness-ci/base "$here/base" "$base" base_context
image "$kafka" "$here/kafka" "$(checksum "$here/kafka" "$base" "$kafka")" kafka_context
image "$rabbitmq" "$here/rabbitmq" "$(checksum "$here/rabbitmq" "$base" "$rabbitmq")" nothing_more
image "$sqs" "$here/localstack" "$(checksum "$here/localstack" "$base" "$sqs")" nothing_more

printf 'HARNESS_DOCKER_IMAGE_%s\n' "KAFKA=$kafka" "SQS=$sqs" "RABBITMQ=$rabbitmq"
