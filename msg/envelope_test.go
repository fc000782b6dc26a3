// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEnvelopeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Envelope{
			Run:      rapid.Uint32().Draw(t, "run"),
			ID:       ID{rapid.Uint32().Draw(t, "producer"), rapid.Uint64().Draw(t, "seq")},
			Attempt:  rapid.Uint16().Draw(t, "attempt"),
			Intended: time.Duration(rapid.Int64().Draw(t, "intended")),
			CRC:      rapid.Uint32().Draw(t, "crc"),
		}
		got, err := ParseEnvelope(want.String())
		if err != nil || got != want {
			t.Fatalf("parse %q = %+v, %v; want %+v", want.String(), got, err, want)
		}
	})
}

func TestEnvelopeRefusesWhatIsNotOne(t *testing.T) {
	for _, text := range []string{
		"", "1", "2;0;p0/0;1;0;0", "1;0;p0/0;1;0", "1;0;p0/0;1;0;0;0", "1;x;p0/0;1;0;0",
		"1;0;q0/0;1;0;0", "1;0;p0;1;0;0", "1;0;p0/0;70000;0;0", "1;0;p0/0;1;;0", strings.Repeat("1;", 100),
	} {
		if _, err := ParseEnvelope(text); !errors.Is(err, ErrEnvelope) {
			t.Errorf("ParseEnvelope(%q) = %v, want ErrEnvelope", text, err)
		}
	}
}

func FuzzParseEnvelope(f *testing.F) {
	f.Add("1;9f3c21aa;p0/17;1;123456789;c1a2b3c4")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEnvelope(text)
		if err != nil {
			return
		}
		again, err := ParseEnvelope(e.String())
		if err != nil || again != e {
			t.Fatalf("%q parsed as %+v, written %q, parsed again as %+v, %v", text, e, e.String(), again, err)
		}
	})
}

func TestParseIDNamesWhatIsWrong(t *testing.T) {
	for _, text := range []string{"", "p", "p/", "p0/", "p/1", "0/1", "p0/-1", "p4294967296/0", "p0/1/2"} {
		if id, err := ParseID(text); !errors.Is(err, ErrID) {
			t.Errorf("ParseID(%q) = %v, %v; want ErrID", text, id, err)
		}
	}
	if id, err := ParseID("p3/42"); err != nil || id != (ID{3, 42}) {
		t.Errorf("ParseID(p3/42) = %v, %v", id, err)
	}
}
