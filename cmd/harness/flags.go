// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-720a3c77/harness/internal/catalog"
)

func flags(cmd *cobra.Command) []string {
	var all []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	return all
}

// providing holds the flags that say where brokers come from.
type providing struct {
	addresses   map[string]string
	allowRemote bool
	provider    string
	images      map[string]string
	say         func(line string)
}

func (p *providing) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringToStringVar(&p.addresses, "address", nil, "ENGINE=ADDRESS of a broker that runs already (kafka, sqs, rabbitmq); credentials only from HARNESS_* variables")
	f.BoolVar(&p.allowRemote, "allow-remote", false, "accept addresses that are not loopback")
	f.StringToStringVar(&p.images, "image", nil, "ENGINE=IMAGE for the docker provider")
	p.registerProvider(cmd)
}

func (p *providing) registerProvider(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.provider, "provider", "", "external, docker or native; empty tries them in this order")
}

func (p *providing) options() catalog.Providing {
	return catalog.Providing{Addresses: p.addresses, AllowRemote: p.allowRemote, Only: p.provider, Images: p.images, Say: p.say}
}
