// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// The flags of a test binary are its only settings. The environment says the same for a
// test of many packages, of which most do not know the flags.
var (
	seedsFlag = flag.Int("consumertest.seeds", 0, "how many `seeds` of each family of schedules are tried (CONSUMERTEST_SEEDS)")
	seedFlag  = flag.Uint64("consumertest.seed", 0, "the one `seed` to try (CONSUMERTEST_SEED)")
)

const (
	// defaultSeeds cover everything that can go wrong alone in a handler of few operations.
	defaultSeeds = 40
	shortSeeds   = 12
)

// seeds are the ones to try.
func (c *config) seeds() ([]uint64, error) {
	one, err := number("CONSUMERTEST_SEED", *seedFlag)
	if err != nil {
		return nil, err
	}
	if one > 0 {
		return []uint64{one}, nil
	}
	n, err := number("CONSUMERTEST_SEEDS", uint64(max(0, *seedsFlag)))
	if err != nil {
		return nil, err
	}
	if n == 0 {
		n = c.fewSeeds()
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all, nil
}

// fewSeeds are enough for every day.
func (c *config) fewSeeds() uint64 {
	switch {
	case c.pace.real && testing.Short():
		return 2
	case c.pace.real:
		return 6
	case testing.Short():
		return shortSeeds
	}
	return defaultSeeds
}

// number is a flag's value, or else the environment's.
func number(name string, flagged uint64) (uint64, error) {
	text := os.Getenv(name)
	if flagged > 0 || text == "" {
		return flagged, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, want a number", name, text)
	}
	return n, nil
}
