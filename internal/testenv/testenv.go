// SPDX-License-Identifier: Apache-2.0

// Package testenv says what a test needs from the machine it runs on, and is the only
// place from which a test is skipped.
//
// A test calls Need or Broker first. When the thing is missing the test is skipped and
// the skip is written to the file named by HARNESS_UNCOVERED, so that the test command
// can say loudly at its end what it could not cover. When HARNESS_REQUIRE names the
// thing (a comma-separated list), its absence is a failure.
package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// brokers maps an engine to the environment variable that holds its address. The same
// variables are read by the external provider and printed by `harness up --env`.
var brokers = map[string]string{
	"kafka":    "HARNESS_KAFKA",
	"sqs":      "HARNESS_SQS",
	"rabbitmq": "HARNESS_RABBITMQ",
}

// Broker returns the address of a running broker (engine is kafka, sqs or rabbitmq).
func Broker(t testing.TB, engine string) string {
	t.Helper()
	address := os.Getenv(brokers[engine])
	if address == "" {
		missing(t, engine, "set "+brokers[engine]+" to its address, or run `make test`")
	}
	return address
}

// Need goes on only if the named thing can be used here: docker, chromium, race, or the
// name of an engine.
func Need(t testing.TB, name string) {
	t.Helper()
	if brokers[name] != "" {
		Broker(t, name)
		return
	}
	if why := absent(name); why != "" {
		missing(t, name, why)
	}
}

// Chromium returns the path of a headless browser.
func Chromium(t *testing.T) string {
	t.Helper()
	path := chromium()
	if path == "" {
		missing(t, "chromium", "install chromium")
	}
	return path
}

// Short skips a test of the CI tier under -short.
func Short(t *testing.T, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + why)
	}
}

func absent(name string) string {
	switch name {
	case "docker":
		if os.Getenv("HARNESS_DOCKER") == "" {
			return "set HARNESS_DOCKER=1 where a docker engine and the broker images are to be had"
		}
	case "chromium":
		if chromium() == "" {
			return "install chromium"
		}
	case "race":
		if !raceEnabled {
			return "run with -race (needs cgo and a C compiler)"
		}
	case "native":
		if os.Getenv("HARNESS_NATIVE") == "" {
			return "set HARNESS_NATIVE=1 where brokers may be downloaded and run as local processes"
		}
	default:
		return fmt.Sprintf("unknown need %q", name)
	}
	return ""
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func missing(t testing.TB, name, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("HARNESS_REQUIRE"), ","), name) {
		t.Fatalf("%s is required by HARNESS_REQUIRE but missing: %s", name, why)
	}
	note(t, name, why)
	t.Skipf("not covered without %s: %s", name, why)
}

func note(t testing.TB, name, why string) {
	path := os.Getenv("HARNESS_UNCOVERED")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("testenv: note what is not covered: %v", err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\t%s\t%s\n", name, t.Name(), why)
}
