// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/internal/regular"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

//go:embed core/*.yaml faults/*.yaml
var embedded embed.FS

// core is the visible list of the core workloads, in the order in which they run.
var core = []string{"steady", "crash-mid-batch", "slow-handler", "poison-pill", "checkout-30s-45s", "analytics-5s-commit"}

// faulty lists the workloads of single faults, which run when they are asked for.
var faulty = []string{"unknown-answers", "crash-process", "zombie", "kill-soak", "broker-restart", "link-hold", "link-breaks", "rebalance-storm", "lease-herd", "channel-closes", "alarm", "retention"}

// Names lists the core workloads in order.
func Names() []string { return slices.Clone(core) }

// Others lists the embedded workloads that run only when they are asked for.
func Others() []string { return slices.Clone(faulty) }

// Find returns an embedded workload by name, or reads a file when the name ends in
// .yaml or .yml.
func Find(name string) (*Document, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return ReadFile(name)
	}
	for _, dir := range []string{"core", "faults"} {
		source, err := embedded.ReadFile(path.Join(dir, name+".yaml"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("workload %q: %w", name, err)
		}
		return Parse(name+".yaml", source)
	}
	return nil, errors.New(suggest.Unknown("workload", name, append(Names(), faulty...)))
}

// ReadFile reads a workload from a file.
func ReadFile(file string) (*Document, error) {
	source, err := regular.Read(file, maxSource)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return Parse(file, source)
}
