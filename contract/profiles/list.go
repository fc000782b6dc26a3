// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// All returns every profile, oldest version of a product first. Each call makes new
// values: the caller may change them.
func All() []contract.Profile {
	return []contract.Profile{
		kafka41(),
		sqsStandard(),
		sqsFIFO(),
		localstack49Standard(),
		localstack49FIFO(),
		rabbitmq310Classic(),
		rabbitmq310Quorum(),
		rabbitmq40Classic(),
		rabbitmq40Quorum(),
	}
}

// Alias is a short name for the newest profile of its kind.
type Alias struct{ Short, Name string }

// Aliases returns the short names.
func Aliases() []Alias {
	return []Alias{
		{"kafka", "kafka-4.1-sarama"},
		{"sqs", "sqs-standard"},
		{"localstack", "localstack-4.9-standard"},
		{"localstack-standard", "localstack-4.9-standard"},
		{"localstack-fifo", "localstack-4.9-fifo"},
		{"rabbitmq", "rabbitmq-4.0-quorum"},
		{"rabbitmq-quorum", "rabbitmq-4.0-quorum"},
		{"rabbitmq-classic", "rabbitmq-4.0-classic"},
	}
}

// Named returns the profile of a name or alias. The error for another name tells the
// nearest right one.
func Named(name string) (contract.Profile, error) {
	full := name
	for _, a := range Aliases() {
		if a.Short == name {
			full = a.Name
		}
	}
	for _, p := range All() {
		if p.Name == full {
			return p, nil
		}
	}
	return contract.Profile{}, errors.New(suggest.Unknown("profile", name, names()))
}

// For returns the profile of the server that was found: the newest one of this product
// and configuration that is not newer than version, or else the oldest. exact tells
// whether major and minor version are those of the profile. It is an error
// if no profile has this product and configuration.
func For(product, version, configuration string) (p contract.Profile, exact bool, err error) {
	var candidates []contract.Profile
	for _, p := range All() {
		if p.Product == product && p.Configuration == configuration {
			candidates = append(candidates, p)
		}
	}
	if len(candidates) == 0 {
		return p, false, fmt.Errorf("no profile of product %q, configuration %q", product, configuration)
	}
	p = candidates[0]
	for _, c := range candidates[1:] {
		if !older(version, c.Version) {
			p = c
		}
	}
	return p, sameMinor(version, p.Version), nil
}

// names are the short ones and the full ones.
func names() []string {
	var all []string
	for _, a := range Aliases() {
		all = append(all, a.Short)
	}
	for _, p := range All() {
		all = append(all, p.Name)
	}
	return all
}

// A version is compared by its dotted numbers; what is no number counts as zero.
func older(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) < 0 }

func sameMinor(a, b string) bool {
	x, y := numbers(a), numbers(b)
	return slices.Equal(x[:min(2, len(x))], y[:min(2, len(y))])
}

func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n := 0
		for _, digit := range part {
			if digit < '0' || digit > '9' {
				break
			}
			n = 10*n + int(digit-'0')
		}
		all = append(all, n)
	}
	return all
}
