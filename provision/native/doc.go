// SPDX-License-Identifier: Apache-2.0

// Package native runs brokers as local processes and installs nothing on the system.
//
// Everything lives in one cache folder:
//
//	install/ENGINE   what was downloaded, with a stamp; unpacked beside it and renamed when complete
//	run/ENGINE       configuration, data and logs of the running broker; removed by Down
//	state/ENGINE.*   which processes and ports it has, and the lock of Up, Down and Restart
//
// Kafka comes as jars by Maven, SQS as LocalStack in a Python environment, RabbitMQ from the
// system or as Debian packages unpacked into the cache. A recipe says how each of them is
// installed, configured, started and asked whether it is ready; the rest of the package does
// not know the engines apart.
//
// Brokers outlive the process that started them, so every claim in the state is checked
// before it is believed: a process counts only if it has the start time that was written
// down, a broker only if it answers its own protocol. Every broker process also carries a
// mark in its environment, by which Down finds children that left the group, and what a
// harness left behind that was killed before it could write its state.
//
// The brokers are set up so that workloads can be short (low session and acknowledgement
// timeouts, frequent checks, small heaps); each deviation from a default is in the recipe's
// file under recipe/ and, where a workload depends on it, in Endpoint.Settings.
//
// Linux and macOS; elsewhere Up answers provision.ErrUnavailable.
//
// Read next: native.go, recipe.go, then one of kafka.go, localstack.go, rabbitmq.go.
package native
