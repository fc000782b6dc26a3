// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/provision"
)

func TestAMachineWithoutToolsIsToldWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	p := &Provider{Cache: t.TempDir()}
	for engine, help := range map[string]string{
		provision.Kafka:    "install Java 17 or newer",
		provision.SQS:      "install Python 3.11 or 3.12 with venv",
		provision.RabbitMQ: "install rabbitmq-server",
	} {
		_, err := p.Up(t.Context(), engine)
		if !errors.Is(err, provision.ErrUnavailable) || !strings.Contains(err.Error(), help) {
			t.Errorf("%s: %v, want ErrUnavailable with %q", engine, err, help)
		}
	}
}

func TestACacheThatCannotBeWritten(t *testing.T) {
	p := &Provider{Cache: "/dev/null/cache"}
	if _, err := p.Up(t.Context(), provision.Kafka); !errors.Is(err, provision.ErrUnavailable) || !strings.Contains(err.Error(), "HARNESS_CACHE") {
		t.Errorf("Up() = %v, want ErrUnavailable that names HARNESS_CACHE", err)
	}
}
