// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The kill test runs this test binary again as a child that records as fast as it can
// and, after each event, stores how many it recorded in a mapping of its own: the
// witness. The parent kills it at a random moment and compares.

const (
	killDir     = "HISTORY_TEST_KILL_DIR"
	killWitness = "HISTORY_TEST_KILL_WITNESS"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		recordUntilKilled(dir, os.Getenv(killWitness))
	}
	if dir := os.Getenv(fullDir); dir != "" {
		recordLimited(dir)
	}
	os.Exit(m.Run())
}

// killedEvent is the n-th event of the child: any of them can be checked.
func killedEvent(n uint64) Event {
	return Event{
		Kind: Delivery + Kind(n%3), T: int64(n * 10), Seq: n, Off: int64(n ^ n>>3), D: int64(n * 2654435761 % 100_000),
		Producer: uint32(n % 5), Place: uint32(n % 7), Key: uint32(n * 40503 % 50_000), CRC: uint32(n * 2246822519),
	}
}

func recordUntilKilled(dir, witness string) {
	r, err := Create(dir, Header{})
	check(err)
	s, err := r.Segment("child")
	check(err)
	f, err := os.OpenFile(witness, os.O_RDWR, 0)
	check(err)
	memory, err := syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	check(err)
	recorded := (*uint64)(unsafe.Pointer(&memory[0]))
	for n := uint64(0); r.Err() == nil; n++ {
		e := killedEvent(n)
		s.Append(&e)
		atomic.StoreUint64(recorded, n+1)
	}
	check(r.Err())
}

func check(err error) {
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

func TestSIGKILLLosesNothing(t *testing.T) {
	kills := 40
	if testing.Short() {
		kills = 3
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range kills {
		killOnce(t, time.Duration(rng.Int64N(int64(40*time.Millisecond))))
	}
}

func killOnce(t *testing.T, after time.Duration) {
	t.Helper()
	parent := t.TempDir()
	defer os.RemoveAll(parent)
	dir, witness := filepath.Join(parent, "run"), filepath.Join(parent, "witness")
	mustWrite(t, witness, make([]byte, 8))
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killDir+"="+dir, killWitness+"="+witness)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, child, witness)
	time.Sleep(after) // a moment to kill at, not one to wait for
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	recorded := binary.NativeEndian.Uint64(mustRead(t, witness))
	checkKilled(t, dir, recorded)
}

// waitFor waits until the child has recorded something.
func waitFor(t *testing.T, child *exec.Cmd, witness string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for binary.NativeEndian.Uint64(mustRead(t, witness)) == 0 {
		if time.Now().After(deadline) {
			child.Process.Kill()
			t.Fatal("the child records nothing")
		}
		time.Sleep(time.Millisecond)
	}
}

func checkKilled(t *testing.T, dir string, recorded uint64) {
	t.Helper()
	run := mustOpen(t, dir)
	n := uint64(0)
	err := run.Each(AllKinds, func(e *Event) {
		if *e != killedEvent(n) {
			t.Fatalf("event %d is %+v, want %+v", n, *e, killedEvent(n))
		}
		n++
	})
	if err != nil {
		t.Fatal(err)
	}
	// The last event may be recorded and not yet witnessed.
	if n != recorded && n != recorded+1 {
		t.Errorf("%d events recorded, %d read", recorded, n)
	}
	if !run.Integrity.Complete() {
		t.Errorf("integrity = %+v", run.Integrity)
	}
}
