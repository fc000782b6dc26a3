// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/local"
)

const composeFile = "../../docker-compose.yml"

// service is what the test reads of one service of the Compose file.
type service struct {
	Image       string
	Ports       []string
	Environment map[string]string
	Volumes     []string
	Healthcheck struct{ Test []string }
}

// composed reads the file as it is without any variable set.
func composed(t *testing.T) map[string]service {
	t.Helper()
	text, err := os.ReadFile(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`).ReplaceAll(text, []byte("$1"))
	var file struct{ Services map[string]service }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Services
}

// published reads HOST:PORT:PORT mappings: the port of the host by that of the container.
func (s service) published(t *testing.T) map[int]int {
	t.Helper()
	ports := map[int]int{}
	for _, mapping := range s.Ports {
		var outer, inner int
		if _, err := fmt.Sscanf(mapping, "127.0.0.1:%d:%d", &outer, &inner); err != nil {
			t.Errorf("port %q is not published at loopback: %v", mapping, err)
		}
		ports[inner] = outer
	}
	return ports
}

// TestComposeSaysTheSame: Kafka's links, which need a proxy, are the one difference.
func TestComposeSaysTheSame(t *testing.T) {
	services := composed(t)
	if got := slices.Sorted(maps.Keys(services)); !slices.Equal(got, []string{"kafka", "rabbitmq", "sqs"}) {
		t.Fatalf("services %v", got)
	}
	for engine, s := range services {
		r := recipeOf(engine)
		if s.Image != r.image() {
			t.Errorf("%s: image %s, want %s", engine, s.Image, r.image())
		}
		if len(s.Healthcheck.Test) == 0 {
			t.Errorf("%s has no health check", engine)
		}
		at := site{Image: s.Image, Ports: map[string]int{}}
		for inner, outer := range s.published(t) {
			at.Ports[portName(r, inner)] = outer
		}
		want, got := r.environment(at), s.Environment
		for _, listeners := range []string{"KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"} {
			if !strings.HasPrefix(want[listeners], got[listeners]) {
				t.Errorf("%s: %s is %q, which does not begin %q", engine, listeners, want[listeners], got[listeners])
			}
			delete(want, listeners)
			delete(got, listeners)
		}
		if !maps.Equal(want, got) {
			t.Errorf("%s: environment\n%v, want\n%v", engine, got, want)
		}
		mounted(t, r, s)
	}
}

func portName(r recipe, inner int) string {
	for name, port := range r.published() {
		if port == inner {
			return name
		}
	}
	return "port " + strconv.Itoa(inner)
}

// mounted checks that every file of a recipe comes from this package's folder.
func mounted(t *testing.T, r recipe, s service) {
	t.Helper()
	seen := map[string]string{}
	for _, volume := range s.Volumes {
		source, rest, _ := strings.Cut(volume, ":")
		text, err := os.ReadFile(filepath.Join("../..", source))
		if err != nil {
			t.Error(err)
		}
		seen[strings.TrimSuffix(rest, ":ro")] = string(text)
	}
	if !maps.Equal(seen, r.files()) {
		t.Errorf("%s mounts %v, want %v", r.engine(), slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(r.files())))
	}
}

// TestRabbitMQSaysWhatItIsTold: the settings of the endpoint are those of the file.
func TestRabbitMQSaysWhatItIsTold(t *testing.T) {
	settings := rabbitmq{}.endpoint(siteOf(rabbitmq{}, 15000)).Settings
	for _, key := range []string{provision.SettingConsumerTimeout, provision.SettingChannelTick} {
		if want := fmt.Sprintf("{%s, %s}", key, settings[key]); !strings.Contains(rabbitAdvanced, want) {
			t.Errorf("the file lacks %s", want)
		}
	}
}

// TestComposeStarts brings the file up as a user would and asks each broker.
func TestComposeStarts(t *testing.T) {
	testenv.Need(t, "docker")
	ports, err := local.FreePorts([]string{"KAFKA", "SQS", "RABBITMQ", "RABBITMQ_ADMIN"})
	if err != nil {
		t.Fatal(err)
	}
	compose := composeCommand(t, ports)
	compose(t.Context(), "config", "--quiet")
	compose(t.Context(), "down", "--volumes") // what a killed test left
	t.Cleanup(func() { compose(context.Background(), "down", "--volumes") })
	compose(t.Context(), "up", "--detach")
	answer(t, ports)
}

// composeCommand runs the Compose that is here, the plugin or the older program.
func composeCommand(t *testing.T, ports map[string]int) func(ctx context.Context, args ...string) {
	command := []string{"docker", "compose"}
	if exec.Command("docker", "compose", "version").Run() != nil {
		command = []string{"docker-compose"}
	}
	command = append(command, "--project-name", "harness-test", "--file", composeFile)
	environment := os.Environ()
	for name, port := range ports {
		environment = append(environment, fmt.Sprintf("HARNESS_DOCKER_PORT_%s=%d", name, port))
	}
	return func(ctx context.Context, args ...string) {
		t.Helper()
		args = append(command[1:len(command):len(command)], args...)
		cmd := exec.CommandContext(ctx, command[0], args...)
		cmd.Env = environment
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
}

// answer waits until all three brokers answer at their ports.
func answer(t *testing.T, ports map[string]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	for _, engine := range provision.Engines() {
		at := site{Ports: map[string]int{"client": ports[strings.ToUpper(engine)]}}
		running := func() error { return nil } // or this waits in vain
		if _, err := ready(ctx, recipeOf(engine), at, running); err != nil {
			t.Errorf("%s: %v", engine, err)
		}
	}
}
