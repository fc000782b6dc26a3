// SPDX-License-Identifier: Apache-2.0

// Package local has what a provider needs of the machine that its brokers run on: loopback
// ports that stay free, and a lock between processes.
//
// Brokers outlive the process that started them and are looked for by others, so neither a
// mutex nor a port that the system picks at each start will do.
package local
