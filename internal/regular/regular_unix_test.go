// SPDX-License-Identifier: Apache-2.0

//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, make := range map[string]func(path string) error{
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"endless":   func(path string) error { return os.Symlink("/dev/zero", path) },
		"five":      func(path string) error { return os.WriteFile(path, []byte("12345"), 0o600) },
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"link":      func(path string) error { return os.Symlink("five", path) },
		"dangling":  func(path string) error { return os.Symlink("nowhere", path) },
		"huge": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
		},
	} {
		if err := make(path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		most int64
		want string
		err  error
	}{
		{"pipe", 5, "", ErrNotRegular},
		{"directory", 5, "", ErrNotRegular},
		{"endless", 5, "", ErrNotRegular},
		{"nowhere", 5, "", fs.ErrNotExist},
		{"dangling", 5, "", fs.ErrNotExist},
		{"huge", 5, "", ErrTooLarge},
		{"five", 4, "", ErrTooLarge},
		{"five", 5, "12345", nil},
		{"link", 6, "12345", nil},
		{"empty", 0, "", nil},
	} {
		text, err := Read(path(c.name), c.most)
		if string(text) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s up to %d: %q, %v; want %q, %v", c.name, c.most, text, err, c.want, c.err)
		}
	}
}
