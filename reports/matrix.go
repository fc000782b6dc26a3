// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// matrix arranges runs by workload and engine, both in the order in which they were run;
// engines of one product stand beside each other, its model first.
type matrix struct {
	rows    []place
	engines []string
	runs    map[cellKey]int // index in Results.Runs
	not     map[cellKey]int // index in Results.NotRun
}

// place is a row: a variant of a workload.
type place struct{ workload, variant string }

func (p place) String() string { return rowName(p.workload, p.variant) }

type cellKey struct {
	place
	engine string
}

func newMatrix(results *checkers.Results) *matrix {
	m := &matrix{runs: map[cellKey]int{}, not: map[cellKey]int{}}
	for i := range results.NotRun {
		n := &results.NotRun[i]
		m.not[cellKey{place{n.Workload, n.Variant}, n.Engine}] = i
	}
	for i := range results.Runs {
		r := &results.Runs[i]
		m.runs[m.free(r, i)] = i
	}
	for i := range results.NotRun {
		n := &results.NotRun[i]
		m.add(n.Workload, n.Variant, n.Engine)
	}
	m.sort()
	return m
}

// free is the cell of a run. One that was repeated has a row of its own by its directory: no
// run hides another.
func (m *matrix) free(r *checkers.Result, i int) cellKey {
	var key cellKey
	for _, again := range []string{"", r.Dir, fmt.Sprintf("run %d", i+1)} {
		key = cellKey{place{r.Workload, r.Variant}, r.Engine}
		if again != "" {
			key.variant = strings.TrimSpace(r.Variant + " (" + again + ")")
		}
		if _, taken := m.runs[key]; !taken {
			break
		}
	}
	return m.add(key.workload, key.variant, key.engine)
}

func (m *matrix) add(workload, variant, engine string) cellKey {
	p := place{workload, variant}
	if !slices.Contains(m.rows, p) {
		m.rows = append(m.rows, p)
	}
	if !slices.Contains(m.engines, engine) {
		m.engines = append(m.engines, engine)
	}
	return cellKey{p, engine}
}

// sort brings rows of one workload and engines of one product together; both keep the
// order of their first appearance otherwise.
func (m *matrix) sort() {
	var workloads, products []string
	for _, r := range m.rows {
		workloads = append(workloads, r.workload)
	}
	for _, e := range m.engines {
		products = append(products, productOf(e))
	}
	slices.SortStableFunc(m.rows, func(a, b place) int {
		return slices.Index(workloads, a.workload) - slices.Index(workloads, b.workload)
	})
	slices.SortStableFunc(m.engines, func(a, b string) int {
		if d := slices.Index(products, productOf(a)) - slices.Index(products, productOf(b)); d != 0 {
			return d
		}
		return fidelityOrder(a) - fidelityOrder(b)
	})
}

// inMemory is the prefix of the name of an engine that is a model.
const inMemory = "inmem:"

func isModel(engine string) bool { return strings.HasPrefix(engine, inMemory) }

func fidelityOrder(engine string) int {
	if isModel(engine) {
		return 0
	}
	return 1
}

// productOf is the product in the name of an engine: "inmem:sqs-fifo" is sqs.
func productOf(engine string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(engine, inMemory), "-")
	if name == "localstack" {
		return "sqs"
	}
	return name
}

// productName is how a product writes itself.
func productName(product string) string {
	switch product {
	case "kafka":
		return "Kafka"
	case "sqs":
		return "SQS"
	case "rabbitmq":
		return "RabbitMQ"
	}
	return product
}

func rowName(workload, variant string) string {
	if variant == "" {
		return workload
	}
	return workload + " " + variant
}
