// SPDX-License-Identifier: Apache-2.0

// Command harness runs workloads with faults on message brokers and says, with evidence,
// which delivery guarantees held. `harness help` lists the verbs; each is one file here.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	err := root().ExecuteContext(context.Background())
	code := exitCode(err)
	if err != nil && !isQuiet(err) {
		fmt.Fprintln(os.Stderr, "harness: "+oneLine(err))
	}
	os.Exit(code)
}
