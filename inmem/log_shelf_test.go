// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// TestASharedBuffer: batches of a client whose claims share a buffer are of several partitions: a
// storm on Kafka had 1.6 of them in a batch and 57 to 75 settlements of zombies, the model without
// it 1.1 and 34 to 62. Of several claims that could go on it is the first one here.
func TestASharedBuffer(t *testing.T) {
	for name, text := range map[string]string{
		"who waited is given what one claim has, then what it put in while it ran; the others waited with one each": `
			open A batch=3
			wait A 3 9s =
			send a1,part:0 a2,part:0 a3,part:0 a4,part:0 a5,part:0 a6,part:0 a7,part:0
			send b1,part:1 b2,part:1 c1,part:2 c2,part:2
			get A 3 = a1 a2 a3
			get A 3 = a4 a5 a6
			get A 3 = a7 b1 c1
			get A 3 = b2 c2`,
		"what comes while it is busy is handed out as it came": `
			open A batch=4
			send a1,part:0
			get A 4 = a1
			send b1,part:1 a2,part:0 c1,part:2 b2,part:1 b3,part:1
			get A 4 = b1 a2 c1 b2
			get A 4 = b3`,
		"what is there of a partition that was given back takes room until it is passed over": `
			open A batch=2
			send a1,part:0 a2,part:0 a3,part:0 a4,part:0 b1,part:1 b2,part:1
			get A 2 = a1 a2
			open B batch=2
			beat A                    # with a3 and a4 in the buffer
			get A 2 = a1 b1
			get A 2 = a2 a3`,
		"a seek is no different": `
			open A batch=2
			send a1,part:0 a2,part:0 a3,part:0 a4,part:0
			get A 2 = a1 a2
			seek A 0 0
			get A 2 = a1 a2
			get A 2 = a3 a4`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := profiles.Named("kafka")
			if err != nil {
				t.Fatal(err)
			}
			p.Knobs[profiles.ClaimStart], p.Knobs[profiles.RevokesAtOnce], p.Knobs[profiles.SharedBuffer] = "0s", "true", "true"
			newScriptOf(t, p, Options{}, broker.Destination{Name: "q", Partitions: 3}).run(text)
		})
	}
}
