// SPDX-License-Identifier: Apache-2.0

// Command blocking finds the statements that start a goroutine or wait on a channel: go,
// select, send, receive. In the packages whose time is the clock's they would escape it.
//
//	blocking [-except FOLDER,FOLDER] FOLDER...
//
// Tests are left out, and so is a line that says `//blocking:` and why. Calls that wait are the
// business of forbidigo in .golangci.yaml.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	except := flag.String("except", "", "folders to leave out, with commas between")
	flag.Parse()
	found := 0
	for _, folder := range flag.Args() {
		lines, err := walk(folder, strings.Split(*except, ","))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		for _, line := range lines {
			fmt.Println(line)
		}
		found += len(lines)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// walk checks the files of a folder and of those below it.
func walk(folder string, except []string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains(except, path) {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		lines, err := check(path)
		all = append(all, lines...)
		return err
	})
	return all, err
}

// check returns a line for every statement of a file that waits.
func check(path string) ([]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	excused := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if why, ok := strings.CutPrefix(c.Text, "//blocking:"); ok && strings.TrimSpace(why) != "" {
				excused[set.Position(c.Pos()).Line] = true
			}
		}
	}
	var lines []string
	ast.Inspect(file, func(n ast.Node) bool {
		if what := waits(n); what != "" {
			if at := set.Position(n.Pos()); !excused[at.Line] {
				lines = append(lines, fmt.Sprintf("%s: %s: only through clock (blocking)", at, what))
			}
		}
		return true
	})
	return lines, nil
}

// waits names a statement that waits or starts what may, or nothing.
func waits(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "send"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive"
		}
	}
	return ""
}
