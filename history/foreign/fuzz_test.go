// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
)

// Whatever a file holds, it is imported and can be judged, or refused with one line.

func FuzzVerifiable(f *testing.F) {
	f.Add(success(0, "7.0", 10)+"\n"+sendError(1, "7.2"), moved(2, "partitions_assigned")+"\n"+recordData(3, "7.0", 10)+"\n"+committed(4, 11, `"success":true`)+"\n"+shutdown)
	f.Add(success(0, "0", 10)+"\nWARN {\n", consumed(3, 16, 10, 10)+"\n"+committed(4, 11, `"success":false,"error":"x"`))
	f.Add(`{"timestamp":-5,"name":"producer_send_success","value":"9223372036854775807","offset":-7}`, `{"timestamp":9223372036854775807,"name":"record_data","partition":-1}`)
	fuzz(f, "kafka-verifiable")
}

func FuzzRedpanda(f *testing.F) {
	f.Add(tabs(redpandaWriter), tabs(streaming("\n3 10 read 100 n1 0 0\n3 0 tx\n3 5 cmt\n3 5 ok\n4 5 seen 7 n9 n1 0 0\n")))
	f.Add(tabs("-1 5 event injecting\n-1 5 event injected\n-1 5 event healed\n"), tabs("1 5 started n1 consuming\n1 5 read 0 1 n1 1\n1 5 log assign 0\n1 5 commit 0 2\n1 5 time\n1 5 constructing\n1 5 log lost 0\n"))
	fuzz(f, "redpanda-chaos")
}

func FuzzOpenMessaging(f *testing.F) {
	f.Add(tabs("c0 enqueue REQUEST a k 5000 null\nfault kill start 5001 n1\nc0 enqueue RESPONSE SUCCESS a k 5002 2 null 0\nfault kill end 5004\n"), tabs("c1 dequeue RESPONSE SUCCESS a null 5003 1 null 4\n"))
	fuzz(f, "openmessaging")
}

func FuzzJepsen(f *testing.F) {
	f.Add(jepsenLog, edn("1 ok assign [:y]", "1 ok poll [[:poll {:x [[1 1]]}]], :rebalance-log [{:keys [:x]}]", ":nemesis info kill nil"))
	f.Add(edn("0 invoke enqueue 1", "0 info enqueue 1", "1 info dequeue nil", "2 ok drain [1 nil]"), "#a {:b")
	fuzz(f, "jepsen")
}

func fuzz(f *testing.F, format string) {
	f.Fuzz(func(t *testing.T, first, second string) {
		run, err := inMemory(format, first, second)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if _, err := checkers.Check(run); err != nil {
			t.Error(err)
		}
		last := int64(0)
		err = run.Each(history.AllKinds, func(e *history.Event) {
			if e.T < last {
				t.Errorf("time went back from %d to %d", last, e.T)
			}
			last = e.T
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func FuzzEDN(f *testing.F) {
	f.Add(jepsenLog)
	f.Add("[nil true -5 2N x/y #{1} (1) {:a \"b\\n\"} #inst \"2020\" #_ 5 ^:m z \\] ;end\n]")
	f.Fuzz(func(t *testing.T, text string) {
		r := newEDN(strings.NewReader(text))
		for n := 0; ; n++ {
			_, err := r.next()
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return
			}
			if err != nil {
				return
			}
			if n > len(text) {
				t.Fatalf("more forms than bytes")
			}
		}
	})
}
