// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of the source; the commit follows from the build.
const release = "0.1.0-dev"

// version is release and commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "+" + s.Value[:12]
		}
	}
	return release
}

func versionVerb() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version, and those of the client libraries",
		Args: exactly(0, "no arguments"),
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "harness %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return
			}
			clients := map[string]bool{"github.com/IBM/sarama": true, "github.com/aws/aws-sdk-go-v2/service/sqs": true, "github.com/rabbitmq/amqp091-go": true}
			for _, d := range info.Deps {
				if clients[d.Path] {
					fmt.Fprintf(cmd.OutOrStdout(), "  %s %s\n", d.Path, d.Version)
				}
			}
		},
	}
}
