// SPDX-License-Identifier: Apache-2.0

// Command harness runs workloads with faults on message brokers and says, with evidence,
// which delivery guarantees held. `harness help` lists the verbs; each is one file here.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(root(), os.Stdout, os.Stderr)) }

// execute runs a command line and returns its exit code.
func execute(cmd *cobra.Command, out, errs io.Writer) int {
	p := printer{w: out}
	cmd.SetOut(&p)
	cmd.SetErr(errs)
	err := p.over(cmd.ExecuteContext(context.Background()))
	if err != nil && !isQuiet(err) {
		fmt.Fprintln(errs, "harness: "+oneLine(err))
	}
	return exitCode(err)
}

// printer remembers that something could not be printed, so that no verb has to look.
type printer struct {
	w      io.Writer
	failed error
}

func (p *printer) Write(text []byte) (int, error) {
	n, err := p.w.Write(text)
	if err != nil && p.failed == nil {
		p.failed = fmt.Errorf("print: %w", err)
	}
	return n, err
}

// over puts a failure to print over a verdict: who did not read it does not know it.
func (p *printer) over(err error) error {
	if p.failed != nil && (err == nil || isQuiet(err)) {
		return p.failed
	}
	return err
}
