// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lines are records of the tools, short: a word and its numbers.
func lines(records ...string) string {
	return strings.Join(records, "\n") + "\n"
}

func success(ms int, value string, offset int) string {
	return fmt.Sprintf(`{"timestamp":%d,"name":"producer_send_success","key":null,"value":%q,"topic":"t","partition":0,"offset":%d}`, 1000+ms, value, offset)
}

func sendError(ms int, value string) string {
	return fmt.Sprintf(`{"timestamp":%d,"name":"producer_send_error","topic":"t","key":null,"value":%q,"exception":"class NotEnoughReplicasException","message":"Messages are rejected"}`, 1000+ms, value)
}

func recordData(ms int, value string, offset int) string {
	return fmt.Sprintf(`{"recordts":1,"timestamp":%d,"name":"record_data","key":null,"value":%q,"topic":"t","partition":0,"offset":%d}`, 1000+ms, value, offset)
}

func consumed(ms, count, first, last int) string {
	return fmt.Sprintf(`{"timestamp":%d,"name":"records_consumed","count":%d,"partitions":[{"topic":"t","partition":0,"count":%d,"minOffset":%d,"maxOffset":%d}]}`, 1000+ms, count, last-first+1, first, last)
}

func committed(ms, offset int, rest string) string {
	return fmt.Sprintf(`{"timestamp":%d,"name":"offsets_committed","offsets":[{"topic":"t","partition":0,"offset":%d}],%s}`, 1000+ms, offset, rest)
}

func moved(ms int, name string) string {
	return fmt.Sprintf(`{"timestamp":%d,"name":%q,"partitions":[{"topic":"t","partition":0}]}`, 1000+ms, name)
}

const shutdown = `{"timestamp":2000,"name":"shutdown_complete"}`

// TestVerifiable has a case for everything that these logs are known to mislead with.
func TestVerifiable(t *testing.T) {
	twoSent := lines(success(0, "0", 10), success(1, "1", 11))
	cases := []struct {
		name  string
		files []string
		want  string
	}{
		{"all is well",
			[]string{twoSent, lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), recordData(3, "1", 11), consumed(3, 2, 10, 11), committed(4, 12, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"not verbose: offsets are joined with what producers were told",
			[]string{twoSent, lines(moved(2, "partitions_assigned"), consumed(3, 2, 10, 11), committed(4, 12, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"the count of the poll is not that of the partition, which was trimmed",
			[]string{twoSent, lines(moved(2, "partitions_assigned"), consumed(3, 16, 10, 10), committed(4, 11, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; undrained p0/1; at-least-once inconclusive"},
		{"what a consumer passed over is lost",
			[]string{twoSent + success(2, "2", 12), lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), recordData(3, "2", 12), consumed(3, 2, 10, 12), committed(4, 13, `"success":true`), shutdown)},
			"3 acked 0 unknown 0 rejected; lost-undelivered p0/1; lost-write p0/1; poll-skip p0/1; at-least-once violated; contract violated"},
		{"lines of a logger, and a last line that was cut",
			[]string{"[2024-11-09 13:30:21,783] WARN Error {metadata} while fetching\n" + twoSent + `{"timestamp":1003,"name":"producer_send_succ`,
				"log4j:WARN No appenders\n" + lines(moved(2, "partitions_assigned"), "[main] INFO "+recordData(3, "0", 10)+recordData(3, "1", 11), committed(4, 12, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"fields in another order",
			[]string{`{"offset":10,"partition":0,"topic":"t","value":"0","key":null,"name":"producer_send_success","timestamp":1000}` + "\n",
				lines(moved(2, "partitions_assigned"), `{"offset":10,"topic":"t","value":"0","partition":0,"name":"record_data","timestamp":1003}`, committed(4, 11, `"success":true`), shutdown)},
			"1 acked 0 unknown 0 rejected; at-least-once pass"},
		{"every error is unknown, and recovered when it is read",
			[]string{lines(success(0, "0", 10), sendError(1, "1"), sendError(1, "2")),
				lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), recordData(3, "2", 11), committed(4, 12, `"success":true`), shutdown)},
			"1 acked 2 unknown 0 rejected; recovered p0/2; at-least-once inconclusive"},
		{"values that are never mentioned are unknown",
			[]string{lines(success(0, "0", 10), success(1, "3", 11), `{"timestamp":1002,"name":"tool_data","sent":6,"acked":2,"target_throughput":20,"avg_throughput":20.0}`)},
			"2 acked 4 unknown 0 rejected; undrained p0/0 p0/3; at-least-once inconclusive"},
		{"a prefix is a producer of its own, and one that nobody here sent with is another run's",
			[]string{lines(success(0, "7.0", 10), success(1, "8.0", 11)),
				lines(moved(2, "partitions_assigned"), recordData(3, "7.0", 10), recordData(3, "8.0", 11), recordData(3, "6.0", 12), recordData(3, "word", 13), committed(4, 14, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; foreign p0/0 p0/0; at-least-once pass"},
		{"a commit that failed is no commit",
			[]string{twoSent, lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), recordData(3, "1", 11), committed(4, 12, `"success":false,"error":"class RebalanceInProgressException"`), shutdown,
				moved(1500, "partitions_assigned"), recordData(1600, "0", 10), recordData(1600, "1", 11), committed(1700, 12, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; effect-duplicates p0/0 p0/1; redelivered p0/0 p0/1; refused-settle p0/1; at-least-once pass"},
		{"a commit that went well and was forgotten",
			[]string{twoSent, lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), recordData(3, "1", 11), committed(4, 12, `"success":true`), shutdown,
				moved(1500, "partitions_assigned"), recordData(1600, "1", 11), committed(1700, 12, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; effect-duplicates p0/1; duplicate-unexplained p0/1; behind-committed p0/1; redelivered-beyond-uncommitted p0/1; redelivered p0/1; at-least-once violated; contract violated"},
		{"numbers as texts and with a fraction, texts as numbers, lines that end with a return",
			[]string{`{"timestamp":"1000","name":"producer_send_success","key":null,"value":7.10,"topic":"t","partition":0.0,"offset":"10"}` + "\r\n",
				strings.ReplaceAll(lines(moved(2, "partitions_assigned"), recordData(3, "7.10", 10), committed(4, 11, `"success":true,"error":null`), shutdown), "\n", "\r\n")},
			"1 acked 10 unknown 0 rejected; at-least-once inconclusive"},
		{"not verbose, and an offset in between holds the mark of a transaction",
			[]string{lines(success(0, "0", 10), success(1, "1", 12)), lines(moved(2, "partitions_assigned"),
				`{"timestamp":1003,"name":"records_consumed","count":2,"partitions":[{"topic":"t","partition":0,"count":2,"minOffset":10,"maxOffset":12}]}`, committed(4, 13, `"success":true`), shutdown)},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"two topics have values of their own, without a prefix",
			[]string{lines(success(0, "0", 10)), strings.ReplaceAll(lines(success(0, "0", 5)), `"t"`, `"u"`),
				lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), committed(4, 11, `"success":true`), shutdown),
				strings.ReplaceAll(lines(moved(2, "partitions_assigned"), recordData(3, "0", 5), committed(4, 6, `"success":true`), shutdown), `"t"`, `"u"`)},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"only a consumer: every send is unknown",
			[]string{lines(moved(2, "partitions_assigned"), recordData(3, "0", 10), recordData(3, "2", 11), committed(4, 12, `"success":true`), shutdown)},
			"0 acked 3 unknown 0 rejected; recovered p0/0 p0/2; at-least-once inconclusive"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(t, imported(t, "kafka-verifiable", c.files...)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestVerifiableCountsWhatItPassedOver(t *testing.T) {
	run := imported(t, "kafka-verifiable", "log4j:WARN {\n\n"+success(0, "0", 1)+"\n{\"timestamp\":17")
	want := []string{"file0: 2 lines that are no records were passed over"}
	if !slices.Equal(run.Header.Notes, want) {
		t.Errorf("notes %q, want %q", run.Header.Notes, want)
	}
}

// TestVerifiableTellsNoTimeTwice: milliseconds count from the first record of any file.
func TestVerifiableTimes(t *testing.T) {
	run := imported(t, "kafka-verifiable", lines(success(5, "0", 10)), lines(moved(2, "partitions_assigned"), recordData(9, "0", 10)))
	want := []string{"0 session-open p0/0", "0 assign p0/0", "3 publish-start p0/0", "3 publish-answer p0/0", "7 delivery p0/0", "7 handler-start p0/0", "7 handler-end p0/0", "7 session-close p0/0", "7 drained p0/0"}
	if got := told(t, run); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// fault is a line of whoever broke the broker.
func fault(at int, name, which string) string {
	return fmt.Sprintf(`{"timestamp":%d,"name":%q,"fault":%q}`, 1000+at, name, which)
}

func TestVerifiableFaults(t *testing.T) {
	run := imported(t, "kafka-verifiable", success(5, "0", 10), lines(fault(7, "fault_active", "broker-kill"), fault(9, "fault_healed", "broker-kill")))
	want := []string{"0 publish-start p0/0", "0 publish-answer p0/0", "2 fault-active p0/0", "4 fault-healed p0/0", "4 drained p0/0"}
	if got := told(t, run); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if len(run.Header.Faults) != 1 || run.Header.Faults[0].Name != "broker-kill" {
		t.Errorf("faults %v", run.Header.Faults)
	}
}

func TestVerifiableRefuses(t *testing.T) {
	if _, err := inMemory("kafka-verifiable", lines(success(0, "0", 0)), lines(success(1, "0", 1))); err == nil || !strings.Contains(err.Error(), `file1: line 1: value "0" was sent by the producer of another file too`) {
		t.Errorf("two producers with one prefix: %v", err)
	}
	for name, text := range map[string]string{
		"file0: no record":  "nothing here\n",
		"names no fault":    success(0, "0", 0) + "\n" + fault(1, "fault_active", "") + "\n",
		"was not active":    success(0, "0", 0) + "\n" + fault(1, "fault_healed", "kill") + "\n",
		"is active twice":   success(0, "0", 0) + "\n" + fault(1, "fault_active", "kill") + "\n" + fault(2, "fault_active", "kill") + "\n",
		"before it was":     lines(success(0, "0", 0), fault(7, "fault_active", "kill"), fault(5, "fault_healed", "kill")),
		"is neither fault_": lines(success(0, "0", 0), fault(7, "fault_actve", "kill")),
		"make no run":       success(0, "0", 0) + "\n" + success(1<<45, "1", 1) + "\n",
		"value 9999999999 ": success(0, "9999999999", 0) + "\n",
		"a poll of offsets": success(0, "0", 0) + "\n" + consumed(1, 1, 0, 1<<30) + "\n",
	} {
		if _, err := inMemory("kafka-verifiable", text); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
