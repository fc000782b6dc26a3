// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/IBM/sarama"
)

// metadataFeature is the feature whose highest supported level tells the version of a
// broker: the protocol has no field for it.
// https://kafka.apache.org/documentation/#upgrade (metadata.version)
const metadataFeature = "metadata.version"

// release is the first metadata.version of a release.
type release struct {
	level int16
	name  string
}

// releases are in rising order of their first level.
var releases = []release{
	{4, "3.3"}, {8, "3.4"}, {9, "3.5"}, {12, "3.6"}, {15, "3.7"}, {20, "3.8"}, {21, "3.9"},
	{22, "4.0"}, {26, "4.1"}, {28, "4.2"}, {30, "4.3"}, {31, "4.4"},
}

// versionOf reads the version from what a broker says it supports. A broker that says
// nothing is older than the oldest release of the table, which is "".
func versionOf(features []sarama.SupportedFeatureKey) string {
	i := slices.IndexFunc(features, func(f sarama.SupportedFeatureKey) bool { return f.Name == metadataFeature })
	if i < 0 {
		return ""
	}
	level := features[i].MaxVersion
	at, found := slices.BinarySearchFunc(releases, level, func(r release, l int16) int { return cmp.Compare(r.level, l) })
	if found {
		return releases[at].name
	}
	if at == 0 {
		return ""
	}
	return releases[at-1].name
}

// protocol is the version that the client is told. Each request is still negotiated down
// to what the broker supports; a broker newer than the client is spoken to in the
// client's newest.
func protocol(version string) sarama.KafkaVersion {
	v, err := sarama.ParseKafkaVersion(version + ".0")
	switch {
	case err != nil:
		return sarama.V2_8_0_0
	case v.IsAtLeast(sarama.MaxVersion):
		return sarama.MaxVersion
	default:
		return v
	}
}

// shown is a version for people.
func shown(version string) string {
	return cmp.Or(version, fmt.Sprintf("before %s", releases[0].name))
}
