// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// sound are options that Check takes, changed by change.
func sound(change func(*Options)) Options {
	o := Defaults()
	o.On, o.Command, o.Effects = "sqs", []string{"true"}, "hook"
	change(&o)
	return o
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	three := 3
	for _, test := range []struct {
		want   string
		change func(*Options)
	}{
		{"", func(*Options) {}},
		{"no command", func(o *Options) { o.Command = nil }},
		{"workers: 0", func(o *Options) { o.Workers = 0 }},
		{`env: "x"`, func(o *Options) { o.Env = []string{"x"} }},
		{"messages: 0", func(o *Options) { o.Messages = 0 }},
		{"rate: -1", func(o *Options) { o.Rate = -1 }},
		{"keys: 0", func(o *Options) { o.Keys = 0 }},
		{"id-header", func(o *Options) { o.IDHeader = "" }},
		{"", func(o *Options) { o.IDHeader, o.IDPath = "", "event_id" }},
		{"a duration is negative", func(o *Options) { o.Ready = -time.Second }},
		{`claim: "exactly-once"`, func(o *Options) { o.Claim = "exactly-once" }},
		{"", func(o *Options) { o.Claim = contract.AtLeastOnce }},
		{"effects: say where", func(o *Options) { o.Effects = "" }},
		{`effects: "mongo:x"`, func(o *Options) { o.Effects = "mongo:x" }},
		{"effects: sqlite: of what", func(o *Options) { o.Effects, o.Query = "sqlite", "select 1, 1" }},
		{"query: effects in sqlite", func(o *Options) { o.Effects = "sqlite:x.db" }},
		{"query: effects: hook has nothing", func(o *Options) { o.Query = "select 1, 1" }},
		{"", func(o *Options) { o.Effects = "poll:http://127.0.0.1:1/effects" }},
		{"effects: poll: want an address without user", func(o *Options) { o.Effects = "poll:http://bob:hunter2@127.0.0.1:1/" }},
		{"effects: poll: want an address", func(o *Options) { o.Effects = "poll:http://%zz" }},
		{"effects: stdout takes nothing", func(o *Options) { o.Effects = "stdout:x" }},
		{"", func(o *Options) { o.Effects, o.Query = "postgres", "select 1, 1" }},
		{"are counts", func(o *Options) { o.Kill = -1 }},
		{"duplicate: 201 of 200", func(o *Options) { o.Duplicate = 201 }},
		{`faults: do: unknown fault "explode"`, func(o *Options) { o.Faults = []Fault{{Do: "explode"}} }},
		{"for is of a freeze", func(o *Options) { o.Faults = []Fault{{Do: doKill, For: time.Second}} }},
		{"", func(o *Options) { o.KillAll, o.Faults = 1, []Fault{{Do: doKillAll}} }},
		{"kill-all: worker is of a fault", func(o *Options) { o.Faults = []Fault{{Do: doKillAll, Worker: &three}} }},
		{"worker 3 of 2", func(o *Options) { o.Faults = []Fault{{Do: doKill, Worker: &three}} }},
	} {
		o := sound(test.change)
		err := o.Check()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("refused: %v", err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}

// TestStarterRoundTrip: a starter says the defaults in every option that there is.
func TestStarterRoundTrip(t *testing.T) {
	for product := range starters {
		text, err := Starter(product)
		if err != nil {
			t.Fatal(err)
		}
		var read Options
		if product != "kafka" {
			read.Partitions = Defaults().Partitions // of topics alone
		}
		if err := read.Decode(text); err != nil {
			t.Fatalf("%s: %v\n%s", product, err, text)
		}
		if err := read.Check(); err != nil {
			t.Errorf("%s: %v", product, err)
		}
		want := Defaults()
		want.On, want.Command, want.Effects, want.Query, want.Lease = read.On, read.Command, read.Effects, read.Query, read.Lease
		want.Env, want.Faults = []string{}, []Fault{}
		if read.On != product || len(read.Command) != 3 {
			t.Errorf("%s: on %q, command %q", product, read.On, read.Command)
		}
		if !reflect.DeepEqual(read, want) {
			t.Errorf("%s: read %+v\nwant %+v", product, read, want)
		}
	}
}

func TestStarterOfNoProduct(t *testing.T) {
	if _, err := Starter("kafak"); err == nil || !strings.Contains(err.Error(), "kafka") {
		t.Errorf("error %v, want the nearest name", err)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	o := Defaults()
	for text, want := range map[string]string{
		"on: sqs\nworkes: 3\n":           `line 2: unknown key "workes"; did you mean "workers"?`,
		"faults: [{do: kill, when: 2s}]": `line 1: unknown key "when"`,
		"on: sqs\nlease: 5 apples\n":     `unknown unit " apples"`,
		"on: [sqs]":                      "line 1: ",
		"":                               "nothing",
	} {
		if err := o.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %q in one line", text, err, want)
		}
	}
	if err := o.Decode([]byte("faults: [{do: freeze, at: 2s, worker: 0, for: 3s}]\n")); err != nil {
		t.Fatal(err)
	}
	if f := o.Faults[0]; f.At != 2*time.Second || f.For != 3*time.Second || *f.Worker != 0 {
		t.Errorf("fault %+v", f)
	}
}
