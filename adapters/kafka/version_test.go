// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"testing"

	"github.com/IBM/sarama"
)

func TestVersionOfABroker(t *testing.T) {
	for level, want := range map[int16]string{
		3: "", 4: "3.3", 7: "3.3", 8: "3.4", 14: "3.6", 19: "3.7", 21: "3.9", 25: "4.0", 26: "4.1", 27: "4.1", 29: "4.2", 30: "4.3", 99: "4.4",
	} {
		features := []sarama.SupportedFeatureKey{{Name: "kraft.version", MaxVersion: 1}, {Name: metadataFeature, MaxVersion: level}}
		if got := versionOf(features); got != want {
			t.Errorf("level %d: %q, want %q", level, got, want)
		}
	}
	if got := versionOf(nil); got != "" || shown(got) != "before 3.3" {
		t.Errorf("a broker that tells nothing: %q, shown as %q", got, shown(got))
	}
}

func TestProtocolOfAVersion(t *testing.T) {
	for version, want := range map[string]sarama.KafkaVersion{
		"4.1": sarama.V4_1_0_0, "3.9": sarama.V3_9_0_0, "": sarama.V2_8_0_0, "99.0": sarama.MaxVersion,
	} {
		if got := protocol(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}
