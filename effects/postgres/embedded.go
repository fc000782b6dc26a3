// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// embeddedVersion is the PostgreSQL that is taken where the system has none.
const embeddedVersion = "17.5.0"

// archive is a published build of PostgreSQL's programs for one platform.
// https://github.com/zonkyio/embedded-postgres-binaries
type archive struct{ platform, sha256 string }

// archiveOf is the one for a system; false is none.
func archiveOf(system, machine string) (archive, bool) {
	switch system + "/" + machine {
	case "linux/amd64":
		return archive{"linux-amd64", "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe"}, true
	case "linux/arm64":
		return archive{"linux-arm64v8", "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752"}, true
	case "darwin/amd64":
		return archive{"darwin-amd64", "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd"}, true
	case "darwin/arm64":
		return archive{"darwin-arm64v8", "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de"}, true
	}
	return archive{}, false
}

func (a archive) artifact() string { return "embedded-postgres-binaries-" + a.platform }

func (a archive) file() string { return a.artifact() + "-" + embeddedVersion + ".jar" }

// unpacked has the programs unpacked into the server's own folder, where its user can run
// them and from where they go with it. The archive is kept in the cache folder.
func unpacked(ctx context.Context, dir string) (bin string, err error) {
	a, known := archiveOf(runtime.GOOS, runtime.GOARCH)
	if !known {
		return "", fmt.Errorf("%w: there is no build for %s/%s", ErrUnavailable, runtime.GOOS, runtime.GOARCH)
	}
	jar, err := a.cached(ctx)
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, "programs")
	if err := unpack(jar, home); err != nil {
		return "", fmt.Errorf("unpack %s: %w", filepath.Base(jar), err)
	}
	return filepath.Join(home, "bin"), nil
}

// cached is the archive in the cache folder, fetched once. One with another checksum is
// never used.
func (a archive) cached(ctx context.Context) (string, error) {
	folder, err := cacheFolder()
	if err != nil {
		return "", fmt.Errorf("%w: no folder to keep it in: %w", ErrUnavailable, err)
	}
	jar := filepath.Join(folder, a.file())
	if a.check(jar) == nil {
		return jar, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	partial, err := os.MkdirTemp(folder, "partial-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(partial)
	if err := a.fetch(ctx, partial); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return jar, os.Rename(filepath.Join(partial, a.file()), jar)
}

// fetch has Maven copy the archive into a folder: its settings say from which repository.
func (a archive) fetch(ctx context.Context, into string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("mvn is not in PATH, which fetches one")
	}
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-Dmaven.repo.local="+filepath.Join(into, "repository"), copyGoal,
		"-Dartifact=io.zonky.test.postgres:"+a.artifact()+":"+embeddedVersion, "-DoutputDirectory="+into)
	cmd.Dir = into
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w: %s", err, firstLine(out))
	}
	return a.check(filepath.Join(into, a.file()))
}

// copyGoal copies one artifact; the version is the one that this was written for.
const copyGoal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"

func (a archive) check(jar string) error {
	file, err := os.Open(jar)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != a.sha256 {
		return fmt.Errorf("%s has the checksum %s instead of %s", a.file(), got, a.sha256)
	}
	return nil
}

// cacheFolder is below the harness's.
func cacheFolder() (string, error) {
	root := os.Getenv("HARNESS_CACHE")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		root = filepath.Join(user, "harness")
	}
	return filepath.Abs(filepath.Join(root, "postgres"))
}

// firstLine is what Maven failed with; help follows it.
func firstLine(out []byte) string {
	line, _, _ := strings.Cut(string(bytes.TrimSpace(out)), "\n")
	return line
}
