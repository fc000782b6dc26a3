// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

const (
	localstackVersion = "4.9.0"
	localstackRegion  = "us-east-1"
	launcher          = "launch-sqs.py"
)

// localstack is SQS by LocalStack, in a Python environment of its own. No account is needed.
type localstack struct{}

func (localstack) engine() string { return provision.SQS }
func (localstack) system() string { return "" }
func (localstack) proof() string  { return filepath.Join("bin", "python") }

func (localstack) stamp() string {
	return stampOf(localstackVersion, recipeFile("localstack-requirements.txt"))
}

func (localstack) install(ctx context.Context, dir string) error {
	python, err := pythonBinary(ctx)
	if err != nil {
		return err
	}
	if _, err := run(ctx, dir, dir, python, "-m", "venv", dir); err != nil {
		return unavailable(provision.SQS, "python cannot make an environment", "install python3-venv", err)
	}
	requirements := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(requirements, []byte(recipeFile("localstack-requirements.txt")), 0o644); err != nil {
		return err
	}
	_, err = run(ctx, dir, dir, filepath.Join(dir, "bin", "python"), "-m", "pip",
		"install", "--quiet", "--no-input", "--no-cache-dir", "-r", requirements)
	return err
}

func (localstack) ports() []string { return []string{"client"} }

func (localstack) configure(_ context.Context, s site) error {
	return writeFiles(s.Dir, map[string]string{launcher: recipeFile(launcher)})
}

func (localstack) commands(s site) []command {
	return []command{{
		Name: "localstack",
		Path: filepath.Join(s.Home, "bin", "python"),
		Args: []string{filepath.Join(s.Dir, launcher)},
		Env: []string{
			"SERVICES=sqs",
			"GATEWAY_LISTEN=" + s.address("client"),
			"LOCALSTACK_HOST=" + s.address("client"),
			"SQS_ENDPOINT_STRATEGY=path", // queue URLs that need no name resolution
			"DNS_ADDRESS=0",
			"OVERRIDE_IN_DOCKER=0",
			"SKIP_SSL_CERT_DOWNLOAD=1",
			"DISABLE_EVENTS=1",
			"FILESYSTEM_ROOT=" + filepath.Join(s.Dir, "files"),
			"LOCALSTACK_VOLUME_DIR=" + filepath.Join(s.Dir, "volume"),
			"PYTHONDONTWRITEBYTECODE=1",
		},
	}}
}

func (localstack) control(site) command { return command{} }

func (l localstack) ready(ctx context.Context, s site) (string, error) {
	url := l.endpoint(s).Address
	version, err := probe.LocalStack(ctx, url)
	if err != nil {
		return "", err
	}
	return "localstack-" + version, probe.SQS(ctx, url)
}

func (localstack) endpoint(s site) provision.Endpoint {
	return provision.Endpoint{
		Address: "http://" + s.address("client"),
		Settings: map[string]string{
			provision.SettingRegion:               localstackRegion,
			"SQS_ENABLE_MESSAGE_RETENTION_PERIOD": "0",
			"nodes":                               "1",
		},
		Credentials: provision.Credentials{User: "test", Password: contract.NewSecret("test")},
	}
}

// pythonBinary finds a Python that LocalStack's packages are built for.
func pythonBinary(ctx context.Context) (string, error) {
	const help = "install Python 3.11 or 3.12 with venv"
	var seen []string
	for _, candidate := range []string{"python3.11", "python3.12", "python3"} {
		path, err := exec.LookPath(candidate)
		if err != nil {
			continue
		}
		version, err := run(ctx, "", "", path, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])")
		if err == nil && pythonFits(strings.TrimSpace(version)) {
			return path, nil
		}
		seen = append(seen, candidate)
	}
	if len(seen) == 0 {
		return "", unavailable(provision.SQS, "python3 is not in PATH", help, nil)
	}
	return "", unavailable(provision.SQS, "no usable python", help, errors.New("tried "+strings.Join(seen, ", ")))
}

func pythonFits(version string) bool {
	return version == "3.11" || version == "3.12"
}
