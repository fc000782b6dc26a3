// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// stub is a service in place of the transport: it answers each operation, by the name in
// X-Amz-Target, and keeps the requests.
type stub struct {
	answers map[string]func(call) (*http.Response, error)

	mu    sync.Mutex
	calls []call
}

type call struct {
	op   string
	body []byte
}

func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c := call{op, body}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	answer := s.answers[op]
	s.mu.Unlock()
	switch {
	case answer != nil:
		return answer(c)
	case op == "GetQueueUrl":
		return reply(200, `{"QueueUrl":"http://queue.test/1/q"}`), nil
	case op == "GetQueueAttributes":
		return reply(200, `{"Attributes":{"VisibilityTimeout":"30"}}`), nil
	}
	return reply(404, ""), nil
}

// sizes are how many entries each request of an operation had.
func (s *stub) sizes(op string) (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.op == op {
			all = append(all, len(entriesOf(c)))
		}
	}
	return all
}

func reply(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(bytes.NewBufferString(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
	}
}

func answer(status int, body string) func(call) (*http.Response, error) {
	return func(call) (*http.Response, error) { return reply(status, body), nil }
}

type entry struct {
	Id                string
	MessageBody       string
	ReceiptHandle     string
	VisibilityTimeout int
	MessageAttributes map[string]struct{ DataType, StringValue string }
}

func entriesOf(c call) []entry {
	var in struct{ Entries []entry }
	json.Unmarshal(c.body, &in)
	return in.Entries
}

// accept answers a batch with success for the entries that keep names, all if nil.
func accept(keep func(entry) bool) func(call) (*http.Response, error) {
	return func(c call) (*http.Response, error) {
		type success struct{ Id, MessageId, MD5OfMessageBody, MD5OfMessageAttributes string }
		out := struct{ Successful []success }{}
		for _, e := range entriesOf(c) {
			if keep == nil || keep(e) {
				out.Successful = append(out.Successful, success{e.Id, "id-" + e.Id, sum([]byte(e.MessageBody)), sumAttributes(e)})
			}
		}
		body, err := json.Marshal(out)
		return reply(200, string(body)), err
	}
}

func sum(b []byte) string {
	digest := md5.Sum(b)
	return hex.EncodeToString(digest[:])
}

// sumAttributes is the service's checksum of string attributes.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func sumAttributes(e entry) string {
	var b []byte
	field := func(s string) { b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...) }
	for _, name := range slices.Sorted(maps.Keys(e.MessageAttributes)) {
		field(name)
		field(e.MessageAttributes[name].DataType)
		b = append(b, 1)
		field(e.MessageAttributes[name].StringValue)
	}
	return sum(b)
}

// openStub opens an engine whose every request goes to the stub.
func openStub(t testing.TB, s *stub, c Config) *engine {
	t.Helper()
	c.Endpoint = "http://127.0.0.1:1"
	c.Transport = func(http.RoundTripper) http.RoundTripper { return s }
	opened, err := Open(context.Background(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { opened.Close(context.Background()) })
	return opened.(*engine)
}

// results collects the answers of a producer, by sequence number.
type results struct {
	mu  sync.Mutex
	all map[uint64][]result
}

type result struct {
	receipt broker.Receipt
	err     error
}

func (r *results) done(seq uint64) func(broker.Receipt, error) {
	return func(receipt broker.Receipt, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.all == nil {
			r.all = map[uint64][]result{}
		}
		r.all[seq] = append(r.all[seq], result{receipt, err})
	}
}

// one is the only answer of a message.
func (r *results) one(t testing.TB, seq uint64) result {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all[seq]) != 1 {
		t.Fatalf("message %d has %d answers, want 1", seq, len(r.all[seq]))
	}
	return r.all[seq][0]
}

func message(to string, seq uint64, body string) *msg.Message {
	return &msg.Message{To: to, ID: msg.ID{Seq: seq}, Attempt: 1, Key: "k", Partition: msg.AnyPartition, Body: []byte(body)}
}

// canned is success for a batch of ten, without checksums and without looking.
func canned(call) (*http.Response, error) {
	var body strings.Builder
	body.WriteString(`{"Successful":[`)
	for i := range maxBatch {
		if i > 0 {
			body.WriteByte(',')
		}
		body.WriteString(`{"Id":"` + *entryID(i) + `","MessageId":"m"}`)
	}
	body.WriteString(`]}`)
	return reply(200, body.String()), nil
}

func make1KB() []byte { return bytes.Repeat([]byte("x"), 1024) }
