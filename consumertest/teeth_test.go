// SPDX-License-Identifier: Apache-2.0

package consumertest

import "testing"

// hunt is what Run does on one profile, with the number of schedules it took.
func hunt(t *testing.T, c *config, p Profile, seeds int) (found *finding, tried int) {
	t.Helper()
	r, err := p.rules()
	if err != nil {
		t.Fatal(err)
	}
	x := &trial{config: c, rules: &r}
	if found = x.fit(t); found != nil {
		return found, 1
	}
	for seed := uint64(1); tried < seeds; seed++ {
		for _, f := range families() {
			found, _ = x.explore(t, f, []uint64{seed})
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

// TestKnownBroken: every mistake is found within 200 schedules and called by its name.
func TestKnownBroken(t *testing.T) {
	tests := []struct {
		name    string
		on      []Profile
		config  *config
		pattern pattern
	}{
		{"plain", []Profile{Kafka, SQSStandard}, single(plain), noDeduplication()},
		{"look first", []Profile{Kafka, SQSStandard}, single(lookFirst), checkThenAct()},
		{"note after", []Profile{Kafka, SQSStandard}, single(noteAfter), workBeforeClaim()},
	}
	for _, test := range tests {
		for _, p := range test.on {
			t.Run(test.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				found, tried := hunt(t, test.config, p, 200)
				if found == nil {
					t.Fatalf("not found in %d schedules", tried)
				}
				if found.cause != test.pattern {
					t.Errorf("named %q, want %q\n%s", found.cause.name, test.pattern.name, found.story(t.Name()))
				}
			})
		}
	}
}

// TestKnownGood: a handler without a mistake passes.
func TestKnownGood(t *testing.T) {
	for _, p := range []Profile{Kafka, SQSStandard} {
		t.Run("one transaction/"+string(p), func(t *testing.T) {
			t.Parallel()
			found, _ := hunt(t, single(once), p, 300)
			if found != nil {
				t.Error(found.story(t.Name()))
			}
		})
	}
}
