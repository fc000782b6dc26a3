// SPDX-License-Identifier: Apache-2.0

package consumertest

import "testing"

// hunt is what Run does on one profile, with the number of schedules it took.
func hunt(t *testing.T, c *config, p Profile, schedules int) (found *finding, tried int) {
	t.Helper()
	r, err := p.rules(c.pace)
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(c, &r)
	if found = x.fit(t); found != nil {
		return found, 1
	}
	for seed := uint64(1); tried < schedules; seed++ {
		for _, f := range families() {
			found = x.explore(t, f, []uint64{seed})
			tried++
			if found != nil {
				return found, tried
			}
		}
	}
	return nil, tried
}

func single(newHandler func(Env) Handler, options ...Option) *config {
	c := newConfig(options)
	c.newHandler = one(newHandler)
	return c
}
