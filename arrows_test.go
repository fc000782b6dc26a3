// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-720a3c77/harness/"

// arrows is the table of ARCHITECTURE.md: what each package may import of this module,
// beside msg, contract, internal/suggest and internal/regular, which everybody may. A folder stands for
// itself alone, "dir/..." for all below it.
var arrows = map[string][]string{
	"msg":               {},
	"contract":          {},
	"contract/profiles": {},
	"clock":             {},
	"broker":            {},
	"broker/brokertest": {"broker", "clock"},
	"inmem":             {"broker", "contract/profiles"},
	"inmem/drive":       {"inmem", "clock", "broker"},
	"adapters/...":      {"adapters/roster", "broker", "contract/profiles"},
	"history":           {},
	"history/foreign":   {"history"},
	"faults":            {"broker", "clock"},
	"workloads":         {"faults"},
	"effects":           {"clock"},
	"effects/...":       {"effects", "effects/relational", "clock"},
	"runner":            {"broker", "clock", "history", "workloads", "faults", "effects", "runner/audit", "runner/pace", "runner/record"},
	"runner/audit":      {"broker", "clock", "runner/record"},
	"runner/spawn":      {},
	"runner/process":    {"runner", "runner/spawn", "broker", "clock", "history", "workloads", "faults", "effects"},
	"runner/record":     {"broker", "clock", "history", "effects"},
	"runner/pace":       {},
	"runner/blackbox":   {"broker", "clock", "history", "runner/audit", "runner/pace", "runner/record", "runner/spawn"},
	"provision":         {"provision/probe"},
	"provision/probe":   {},
	"provision/local":   {},
	"provision/native":  {"internal/proc", "provision", "provision/probe", "provision/local"},
	"provision/link":    {"provision"},
	"provision/docker":  {"provision", "provision/probe", "provision/local"},
	"checkers":          {"history"},
	"explore":           {"runner", "inmem", "inmem/drive", "checkers", "workloads", "history", "faults", "broker", "clock"},
	"conformance":       {"history", "history/foreign", "checkers", "contract/profiles", "inmem", "inmem/drive", "broker", "clock", "runner", "workloads", "faults", "explore"},
	"reports":           {"checkers"},
	"consumertest":      {"runner", "inmem", "inmem/drive", "workloads", "faults", "effects", "history", "checkers", "broker", "clock", "contract/profiles"},
	"examples/...":      {},
	"examples":          {},
	"internal/suggest":  {},
	"internal/regular":  {},
	"internal/testenv":  {},
	"internal/catalog":  {"*"},
	"internal/suite":    {"*"},
	"internal/proc":     {},
	"internal/watchdog": {"internal/proc"},
	"cmd/harness":       {"*"},
}

// everybody may be imported by all.
var everybody = []string{"msg", "contract", "internal/suggest", "internal/regular"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := allowedFor(from)
		if !known {
			t.Errorf("package %s is not in the table of arrows", from)
			continue
		}
		for _, to := range p.Imports {
			to, own := strings.CutPrefix(to, module)
			if own && !slices.Contains(everybody, to) && !permits(allowed, to) {
				t.Errorf("%s imports %s, against the arrows", from, to)
			}
		}
	}
}

func allowedFor(from string) ([]string, bool) {
	if allowed, ok := arrows[from]; ok {
		return allowed, true
	}
	for dir := filepath.Dir(from); dir != "."; dir = filepath.Dir(dir) {
		if allowed, ok := arrows[dir+"/..."]; ok {
			return allowed, true
		}
	}
	return nil, false
}

func permits(allowed []string, to string) bool {
	return slices.Contains(allowed, to) || slices.Contains(allowed, "*")
}

// TestConsumertestStaysLight: whoever tests a consumer gets no broker library with it.
func TestConsumertestStaysLight(t *testing.T) {
	heavy := []string{"adapters", "provision", "IBM/sarama", "aws-sdk-go", "amqp091-go", "toxiproxy", "testcontainers", "modernc.org/sqlite", "jackc/pgx"}
	for _, p := range list(t) {
		if p.ImportPath != module+"consumertest" {
			continue
		}
		for _, dep := range p.Deps {
			for _, h := range heavy {
				if strings.Contains(dep, h) {
					t.Errorf("consumertest depends on %s", dep)
				}
			}
		}
	}
}

func list(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module) {
			all = append(all, p)
		}
	}
}

// TestEveryFileNamesItsLicense: one SPDX line near the top of every source file.
func TestEveryFileNamesItsLicense(t *testing.T) {
	endings := []string{".go", ".yaml", ".yml", ".sh", ".css", ".js", ".proto", "Makefile", "Dockerfile"}
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		wanted := slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(file, e) })
		if wanted && !strings.Contains(file, "testdata/") && !hasLicense(t, file) {
			t.Errorf("%s has no SPDX line", file)
		}
	}
}

func hasLicense(t *testing.T, file string) bool {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return true // deleted, not committed yet
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for n := 0; n < 5 && s.Scan(); n++ {
		if strings.Contains(s.Text(), "SPDX-License-Identifier: Apache-2.0") {
			return true
		}
	}
	return false
}
