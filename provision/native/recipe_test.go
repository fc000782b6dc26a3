// SPDX-License-Identifier: Apache-2.0

package native

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file below testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (rewrite with -update):\n%s", path, text)
	}
}

// fixedSite has the recipe's ports in order from 15001.
func fixedSite(r recipe, dir string) site {
	s := site{Home: "/cache/install/" + r.engine(), Dir: dir, Ports: map[string]int{}}
	for i, name := range r.ports() {
		s.Ports[name] = 15001 + i
	}
	return s
}

func TestKafkaProperties(t *testing.T) {
	got, err := kafka{}.properties(fixedSite(kafka{}, "/cache/run/kafka"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "kafka-server.properties", got)
}

func TestKafkaTellsTheSettingsItWrites(t *testing.T) {
	s := fixedSite(kafka{}, "/cache/run/kafka")
	text, err := kafka{}.properties(s)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for key, value := range (kafka{}).endpoint(s).Settings {
		if key != "nodes" && !slices.Contains(lines, key+"="+value) {
			t.Errorf("the endpoint says %s=%s, the configuration does not", key, value)
		}
	}
}

func TestRabbitMQFiles(t *testing.T) {
	s := fixedSite(rabbitmq{}, t.TempDir())
	if err := (rabbitmq{}).configure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range []string{"rabbitmq.conf", "advanced.config", "enabled_plugins"} {
		text, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "== %s\n%s", name, text)
	}
	golden(t, "rabbitmq-files.txt", all.String())
}

func TestRabbitMQWithManagement(t *testing.T) {
	s := fixedSite(rabbitmq{}, t.TempDir())
	s.Home = t.TempDir()
	if err := os.MkdirAll(filepath.Join(s.Home, "plugins", "rabbitmq_management-3.10.8"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := (rabbitmq{}).endpoint(s).Admin; got != "http://127.0.0.1:15002" {
		t.Errorf("Admin = %q", got)
	}
	if err := (rabbitmq{}).configure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(s.Dir, "rabbitmq.conf"))
	if err != nil || !strings.Contains(string(conf), "\nmanagement.tcp.port = 15002\n") {
		t.Errorf("rabbitmq.conf:\n%s%v", conf, err)
	}
}

func TestCommandsListenOnLoopbackOnly(t *testing.T) {
	var all strings.Builder
	for _, r := range (&Provider{}).known() {
		for _, c := range r.commands(fixedSite(r, "/cache/run/"+r.engine())) {
			// The machine decides where java and epmd are.
			fmt.Fprintf(&all, "== %s: %s %s\n%s\n", c.Name, filepath.Base(c.Path), strings.Join(c.Args, " "), strings.Join(c.Env, "\n"))
		}
	}
	golden(t, "commands.txt", all.String())
}

func TestStampsDependOnWhatIsInstalled(t *testing.T) {
	if stampOf("1", "ab", "c") == stampOf("1", "a", "bc") || stampOf("1", "a") == stampOf("2", "a") {
		t.Error("different recipes have one stamp")
	}
	if stampOf("1", "a") != stampOf("1", "a") {
		t.Error("a stamp is not stable")
	}
}

func TestASetupDependsOnTheSiteAndNotOnTheCaller(t *testing.T) {
	for _, r := range (&Provider{}).known() {
		setup := func(dir string) string {
			got, err := setupOf(r, fixedSite(r, dir))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		before := setup("/a")
		t.Run(r.engine(), func(t *testing.T) {
			t.Setenv("PATH", "/elsewhere")
			t.Setenv("JAVA_HOME", "/elsewhere")
			if setup("/a") != before {
				t.Error("the caller's environment changes the set-up")
			}
		})
		if setup("/b") == before {
			t.Errorf("%s: another folder gives the same set-up", r.engine())
		}
	}
}

func TestEmbeddedFilesSayTheirLicence(t *testing.T) {
	files, err := recipeFiles.ReadDir("recipe")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.Contains(recipeFile(f.Name()), "SPDX-License-Identifier: Apache-2.0") {
			t.Errorf("%s has no SPDX line", f.Name())
		}
	}
}

func TestJavaMajor(t *testing.T) {
	for out, want := range map[string]int{
		`openjdk version "17.0.15" 2025-04-15`:                           17,
		`java version "1.8.0_402"`:                                       1,
		`openjdk version "21" 2023-09-19`:                                21,
		"Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version \"25-ea\"": 25,
		"no such thing": 0,
	} {
		if got := javaMajor(out); got != want {
			t.Errorf("javaMajor(%q) = %d, want %d", out, got, want)
		}
	}
}

func TestLastLines(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "  b\n  c"},
		{"a", 2, "  a"},
		{"", 2, "  "},
	} {
		if got := lastLines(tc.text, tc.n); got != tc.want {
			t.Errorf("lastLines(%q, %d) = %q, want %q", tc.text, tc.n, got, tc.want)
		}
	}
	if got := tail(filepath.Join(t.TempDir(), "none"), 3); !strings.Contains(got, "no such file") {
		t.Errorf("tail of nothing = %q", got)
	}
}

func TestBrokersGetACleanEnvironment(t *testing.T) {
	t.Setenv("HARNESS_KAFKA_PASSWORD", "hunter2")
	env := cleanEnv("/run/dir", []string{"A=1"})
	if text := strings.Join(env, "\n"); strings.Contains(text, "hunter2") || !slices.Contains(env, markVariable+"=/run/dir") || !slices.Contains(env, "A=1") {
		t.Errorf("environment:\n%s", text)
	}
}
