// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"text/template"

	"github.com/seed-720a3c77/harness/provision"
)

//go:embed recipe
var recipeFiles embed.FS

// recipe knows one engine. Its methods are called under the engine's lock.
type recipe interface {
	engine() string
	// stamp names version and content of what install makes.
	stamp() string
	// system returns an installation of the machine to be used instead of install, or "".
	system() string
	// install fills the empty folder dir. The result is moved afterwards: it must not know its path.
	install(ctx context.Context, dir string) error
	// proof is a file, relative to dir, without which an installation is broken.
	proof() string
	// ports names the ports that a site needs.
	ports() []string
	// configure writes the files of a fresh site and prepares its storage.
	configure(ctx context.Context, s site) error
	// commands lists the processes in starting order. The last one is the broker itself.
	commands(s site) []command
	// control is the broker's own control program, at work on the site; the zero value is none.
	control(s site) command
	// ready makes one try to use the broker and returns its version.
	ready(ctx context.Context, s site) (version string, err error)
	// endpoint describes the site to clients.
	endpoint(s site) provision.Endpoint
}

// site is where one broker lives. All that a recipe renders depends on it alone, so that a
// restart from another process starts the same broker again.
type site struct {
	Home  string         `json:"home"` // the installation
	Dir   string         `json:"dir"`  // configuration, data and logs
	Ports map[string]int `json:"ports"`
}

// address is the loopback address of a named port.
func (s site) address(port string) string { return fmt.Sprintf("127.0.0.1:%d", s.Ports[port]) }

// command is one process of a broker.
type command struct {
	Name string // unique in the recipe, names the log file
	Path string
	Args []string
	Env  []string // added to a small, clean environment
}

// stampOf is a version and the checksum of everything that decides what install makes.
func stampOf(version string, parts ...string) string {
	sum := sha256.New()
	for _, part := range append(parts, version, runtime.GOOS, runtime.GOARCH) {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return version + " sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// setupOf is the checksum of everything that decides how a broker at s was installed,
// configured and started, by this build of the harness. One with another set-up is not what
// its endpoint would claim.
func setupOf(r recipe, s site) (string, error) {
	parts := []string{r.stamp()}
	files, err := recipeFiles.ReadDir("recipe")
	if err != nil {
		return "", err
	}
	for _, f := range files {
		parts = append(parts, recipeFile(f.Name()))
	}
	for _, c := range r.commands(s) {
		parts = append(append(parts, c.Name), c.Args...)
		for _, variable := range c.Env {
			if !strings.HasPrefix(variable, "PATH=") { // the caller's, not the broker's
				parts = append(parts, variable)
			}
		}
	}
	endpoint, err := json.Marshal(r.endpoint(s))
	return stampOf(r.engine(), append(parts, string(endpoint))...), err
}

// recipeFile returns an embedded file as it is.
func recipeFile(name string) string {
	text, err := recipeFiles.ReadFile("recipe/" + name)
	if err != nil {
		panic(err) // the name is a constant of this package
	}
	return string(text)
}

// render fills an embedded template.
func render(name string, data any) (string, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(recipeFile(name))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}
