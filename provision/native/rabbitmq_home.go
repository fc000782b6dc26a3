// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-720a3c77/harness/provision"
)

// The home of RabbitMQ is either the system's own folder (the one with sbin and plugins) or
// the folder in the cache into which Debian's packages were unpacked.

// debianPackages are rabbitmq-server and those of its dependencies that a machine may lack.
func debianPackages() []string {
	return strings.Fields(`rabbitmq-server erlang-asn1 erlang-base erlang-crypto erlang-eldap
		erlang-ftp erlang-inets erlang-mnesia erlang-os-mon erlang-parsetools erlang-public-key
		erlang-runtime-tools erlang-snmp erlang-ssl erlang-syntax-tools erlang-tftp erlang-tools
		erlang-xmerl libwrap0 socat`)
}

func (rabbitmq) stamp() string {
	return stampOf("debian", append(debianPackages(), recipeFile("erl.sh"))...)
}

// erlScript is where the packages put Erlang's start script, below a home.
const erlScript = "root/usr/lib/erlang/bin/erl"

func (rabbitmq) proof() string { return erlScript }

// system finds a RabbitMQ that is installed, by its server script and an Erlang in PATH.
func (rabbitmq) system() string {
	if _, err := exec.LookPath("erl"); err != nil {
		return ""
	}
	homes, _ := filepath.Glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*")
	if path, err := exec.LookPath("rabbitmq-server"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(path)))
		}
	}
	for _, home := range homes {
		if exists(filepath.Join(home, "sbin", "rabbitmq-server")) && exists(filepath.Join(home, "plugins")) {
			return home
		}
	}
	return ""
}

// install downloads Debian's packages with package lists of its own and unpacks them, which
// needs neither root nor a change to the system.
func (rabbitmq) install(ctx context.Context, dir string) error {
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return unavailable(provision.RabbitMQ, "rabbitmq-server is not installed and there is no "+tool+" to fetch it",
				"install rabbitmq-server", nil)
		}
	}
	packages, err := downloadPackages(ctx, dir)
	if err != nil {
		return err
	}
	for _, file := range packages {
		if _, err := run(ctx, dir, dir, "dpkg-deb", "-x", file, filepath.Join(dir, "root")); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "apt")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, erlScript), []byte(recipeFile("erl.sh")), 0o755)
}

// downloadPackages returns the package files, in a folder apt below dir.
func downloadPackages(ctx context.Context, dir string) ([]string, error) {
	apt := filepath.Join(dir, "apt")
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, folder), 0o755); err != nil {
			return nil, err
		}
	}
	own := []string{
		"-q", "-o", "Dir::State=" + apt, "-o", "Dir::Cache=" + filepath.Join(apt, "cache"),
		"-o", "Dir::State::status=/var/lib/dpkg/status", "-o", "APT::Sandbox::User=",
	}
	if _, err := run(ctx, apt, dir, "apt-get", append(own, "update")...); err != nil {
		return nil, err
	}
	if _, err := run(ctx, apt, dir, "apt-get", append(append(own, "download"), debianPackages()...)...); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(apt, "*.deb"))
}

// unpacked is the folder of unpacked packages in a home, or "" for a system's home.
func unpacked(home string) string {
	if exists(filepath.Join(home, erlScript)) {
		return filepath.Join(home, "root")
	}
	return ""
}

// rabbitHome is the folder with sbin and plugins.
func rabbitHome(home string) string {
	root := unpacked(home)
	if root == "" {
		return home
	}
	return firstMatch(filepath.Join(root, "usr/lib/rabbitmq/lib/rabbitmq_server-*"))
}

// epmdPath is the port mapper that belongs to the home's Erlang.
func epmdPath(home string) string {
	if root := unpacked(home); root != "" {
		return firstMatch(filepath.Join(root, "usr/lib/erlang/erts-*/bin/epmd"))
	}
	if path, err := exec.LookPath("epmd"); err == nil {
		return path
	}
	return firstMatch("/usr/lib/erlang/erts-*/bin/epmd")
}

// unpackedEnv makes programs find each other below the folder they were unpacked into.
func unpackedEnv(home string) []string {
	root := unpacked(home)
	if root == "" {
		return nil
	}
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu*"))
	return []string{
		"PATH=" + filepath.Join(root, "usr/lib/erlang/bin") + ":" + os.Getenv("PATH"),
		"LD_LIBRARY_PATH=" + strings.Join(libraries, ":"),
	}
}

// firstMatch is the first path that matches the pattern, or the pattern.
func firstMatch(pattern string) string {
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return found[0]
	}
	return pattern
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
