// SPDX-License-Identifier: Apache-2.0

// Package provision brings real brokers up and hands their addresses out.
//
// A Provider is one way to get a broker:
//
//   - External uses one that somebody else runs, named by flags or environment;
//   - provision/docker starts containers;
//   - provision/native starts local processes from a cache folder and installs nothing
//     on the system.
//
// First asks them in order. A provider that cannot work on this machine answers
// ErrUnavailable with the reason and what would help, and the next is asked. A provider
// that should work and fails ends the search: an address that a user wrote down and that
// does not answer is an error, never a reason to test another broker silently.
//
// What comes back is an Endpoint: where the broker listens, what it says it is, the
// settings that decide how short a workload may be, and its nodes. A Node can be killed,
// frozen, thawed and restarted; the faults package declares the same shape for itself and
// does not import this package.
//
// Endpoints never carry a password into a file: Credentials and contract.Secret print and marshal
// as a placeholder.
//
// Read next: provider.go, endpoint.go, external.go, then package native.
package provision
