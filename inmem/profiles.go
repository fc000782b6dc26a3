// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// Profiles returns the profiles that the engine can behave as: all that are known.
func Profiles() []contract.Profile { return profiles.All() }

// Profile returns the profile of a name or alias, such as "kafka" or
// "localstack-4.9-fifo". The error for another name is profiles.ErrUnknown and tells the
// nearest right one.
func Profile(name string) (contract.Profile, error) { return profiles.Named(name) }
