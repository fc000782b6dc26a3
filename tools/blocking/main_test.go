// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		"go func() {}()":                  "go",
		"<-c":                             "receive",
		"v, ok := <-c; _, _ = v, ok":      "receive",
		"c <- 1":                          "send",
		"select {}":                       "select",
		"close(c)":                        "",
		"x := -1; _ = x":                  "",
		"<-c //blocking: for a reason":    "",
		"<-c //blocking:":                 "receive",
		"<-c // blocking: not the marker": "receive",
	} {
		path := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(path, []byte("package a\n\nfunc f(c chan int) {\n"+body+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lines, err := check(path)
		if err != nil {
			t.Fatal(err)
		}
		switch got := strings.Join(lines, "\n"); {
		case want == "" && got != "":
			t.Errorf("%q: found %s", body, got)
		case want != "" && !strings.Contains(got, ":4:") || !strings.Contains(got, want):
			t.Errorf("%q: found %q, want %s", body, got, want)
		}
	}
}
