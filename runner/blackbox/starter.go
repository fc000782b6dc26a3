// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"text/template"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

//go:embed starter.yaml.tmpl
var starterText string

// starters are the products that a starter file can be had for, and what differs.
var starters = map[string]starter{
	"kafka":    {On: "kafka", Queue: "topic", Program: "./my-consumer --brokers {address} --topic {topic} --group {group}"},
	"sqs":      {On: "sqs", Queue: "queue", Program: "./my-consumer --queue-url {queue-url}", Lease: "5s"},
	"rabbitmq": {On: "rabbitmq", Queue: "queue", Program: "./my-consumer --queue {queue}"},
}

type starter struct {
	On, Queue, Program, Lease string
	Options
}

// Starter is a file with every option, its default and what it means, for one product.
func Starter(product string) ([]byte, error) {
	s, known := starters[product]
	if !known {
		return nil, errors.New(suggest.Unknown("product", product, []string{"kafka", "sqs", "rabbitmq"}))
	}
	s.Options = Defaults()
	page, err := template.New("starter").Delims("<<", ">>").Parse(starterText)
	if err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	var text bytes.Buffer
	if err := page.Execute(&text, s); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	return text.Bytes(), nil
}
