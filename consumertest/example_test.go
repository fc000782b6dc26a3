// SPDX-License-Identifier: Apache-2.0

package consumertest_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// goTest runs a test as go test does, and prints what it says of the first failure down
// to its pattern. It is here because an example has no *testing.T.
func goTest(name string, test func(*testing.T)) {
	told := saidBy(func() {
		all := func(string, string) (bool, error) { return true, nil }
		testing.RunTests(all, []testing.InternalTest{{Name: name, F: test}})
	})
	for i, line := range told {
		if strings.HasPrefix(line, "pattern") {
			_, what, _ := strings.Cut(told[i-2], ": ")
			fmt.Printf("%s: FAIL\n  %s\n  %s\n", name, what, strings.Join(strings.Fields(line), " "))
			return
		}
	}
	fmt.Printf("%s: ok\n", name)
}

// saidBy are the lines that fn writes to standard output.
func saidBy(fn func()) (lines []string) {
	reader, writer, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	before := os.Stdout
	os.Stdout = writer
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines = linesOf(reader)
	}()
	fn()
	os.Stdout = before
	writer.Close()
	<-done
	return lines
}

func linesOf(r io.Reader) (lines []string) {
	for s := bufio.NewScanner(r); s.Scan(); {
		lines = append(lines, strings.TrimSpace(s.Text()))
	}
	return lines
}
