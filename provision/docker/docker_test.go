// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/provision"
)

func TestVersionOfAnImage(t *testing.T) {
	for image, want := range map[string]string{
		"apache/kafka:4.1.0":        "4.1.0",
		"rabbitmq:4.0.5-management": "4.0.5",
		"localhost:5000/kafka:4.1":  "4.1",
		"kafka:4.1.0@sha256:00ff":   "4.1.0",
		"localhost:5000/kafka":      "",
		"kafka":                     "",
		"kafka:latest":              "",
		"kafka@sha256:00ff":         "",
	} {
		if got := (site{Image: image}).version(); got != want {
			t.Errorf("version of %s is %q, want %q", image, got, want)
		}
	}
}

func TestOnlyEnginesOfThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"unix:///var/run/docker.sock":    true,
		"npipe:////./pipe/docker_engine": true,
		"tcp://127.0.0.1:2375":           true,
		"tcp://[::1]:2375":               true,
		"tcp://localhost:2375":           true,
		"tcp://192.0.2.1:2376":           false,
		"tcp://docker.example:2376":      false,
		"ssh://user@192.0.2.1":           false,
		"":                               false,
	} {
		if onThisMachine(address) != want {
			t.Errorf("onThisMachine(%q) = %v", address, !want)
		}
	}
}

func TestImagesComeFromCodeThenEnvironment(t *testing.T) {
	t.Setenv("HARNESS_DOCKER_IMAGE_KAFKA", "mirror/kafka:4.1.0")
	t.Setenv("HARNESS_DOCKER_IMAGE_SQS", "")
	for name, tc := range map[string]struct {
		images       map[string]string
		engine, want string
	}{
		"code":        {map[string]string{provision.Kafka: "own/kafka:1"}, provision.Kafka, "own/kafka:1"},
		"environment": {nil, provision.Kafka, "mirror/kafka:4.1.0"},
		"pinned":      {nil, provision.SQS, "localstack/localstack:4.9.2"},
	} {
		p := &Provider{Images: tc.images, Cache: t.TempDir()}
		if b, err := p.berth(tc.engine); err != nil || b.image != tc.want {
			t.Errorf("%s: image %q, %v, want %q", name, b.image, err, tc.want)
		}
	}
}

// siteOf gives every port of a recipe a number.
func siteOf(r recipe, first int) site {
	s := site{Image: r.image(), Ports: map[string]int{}}
	for name := range r.published() {
		s.Ports[name] = first + len(s.Ports)
	}
	for _, name := range r.spare() {
		s.Ports[name] = first + len(s.Ports)
	}
	return s
}

func TestSetupFollowsWhatDecides(t *testing.T) {
	for _, engine := range provision.Engines() {
		r := recipeOf(engine)
		s := siteOf(r, 15000)
		other := s
		other.Image = "another:1"
		setups := map[string]string{}
		for name, s := range map[string]site{"same": s, "image": other, "ports": siteOf(r, 16000)} {
			setup, err := setupOf(r, s)
			if err != nil {
				t.Fatal(err)
			}
			setups[setup] = name
		}
		if again, err := setupOf(r, s); err != nil || setups[again] != "same" || len(setups) != 3 {
			t.Errorf("%s: setups %v, again %s, %v", engine, setups, again, err)
		}
	}
}

func TestOwnersDoNotShareContainers(t *testing.T) {
	names := map[string]bool{}
	for _, cache := range []string{"a", "b"} {
		for _, engine := range provision.Engines() {
			b, err := (&Provider{Cache: cache}).berth(engine)
			if err != nil {
				t.Fatal(err)
			}
			names[b.container()] = true
		}
	}
	if len(names) != 6 {
		t.Errorf("container names %v, want 6", names)
	}
}

func TestUnknownEngine(t *testing.T) {
	p := &Provider{Cache: t.TempDir()}
	if _, err := p.Up(t.Context(), "kafak"); err == nil || !strings.Contains(err.Error(), "kafka, sqs, rabbitmq") {
		t.Errorf("Up() = %v", err)
	}
}

// TestWithoutAnEngine runs in a process of its own, since the library looks for an engine
// once in the life of a process.
func TestWithoutAnEngine(t *testing.T) {
	const inside = "HARNESS_TEST_WITHOUT_AN_ENGINE"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWithoutAnEngine$", "-test.count=1")
		cmd.Env = append(os.Environ(), inside+"=1", "DOCKER_HOST=unix://"+filepath.Join(t.TempDir(), "none"))
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	p := &Provider{Cache: t.TempDir()}
	_, err := p.Up(t.Context(), provision.Kafka)
	var u *provision.Unavailable
	if !errors.As(err, &u) || u.Help == "" || strings.Contains(err.Error(), "\n") {
		t.Errorf("Up() = %v, want one line of Unavailable with help", err)
	}
	if running, err := p.Status(t.Context()); len(running) != 0 || err != nil {
		t.Errorf("Status() = %v, %v", running, err)
	}
	if err := p.Down(t.Context(), provision.Kafka); err != nil {
		t.Errorf("Down() = %v", err)
	}
}
