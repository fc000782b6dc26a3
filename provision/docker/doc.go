// SPDX-License-Identifier: Apache-2.0

// Package docker runs brokers as containers, by testcontainers-go.
//
// The images are the public ones, pinned; Provider.Images and the variables
// HARNESS_DOCKER_IMAGE_KAFKA, _SQS and _RABBITMQ name others that are started alike. An
// image that is not there is pulled once. Without a container engine on this machine, or
// without an image, Up answers provision.ErrUnavailable.
//
// The container is the state: its labels say whose it is (the cache folder), how it was set
// up and at which ports of the host. Nothing else is written down, so nothing can be stale,
// and every process that can reach the engine finds the same broker. What a harness left
// behind that was killed half-way carries the same labels, and the next Up or Down sweeps it;
// the library's own reaper, which would end brokers with the process that started them, is
// off.
//
// Ports are published on loopback only. They are chosen once and named to the engine, so
// that a container that was killed comes back where it was: a port that the engine picks
// changes at every start, and Kafka tells its clients where to connect.
//
// The brokers are set up so that workloads can be short, like those of package native; what
// differs from a default is in kafka.go, localstack.go and recipe/, and, where a workload
// depends on it, in Endpoint.Settings. docker-compose.yml says the same once more for those
// who keep brokers by Compose; a test compares them.
//
// Read next: docker.go, recipe.go, then one of kafka.go, localstack.go, rabbitmq.go.
package docker
