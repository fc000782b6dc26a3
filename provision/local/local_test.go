// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestFreePortsDifferAndCanBeBound(t *testing.T) {
	ports, err := FreePorts([]string{"client", "admin", "link"})
	if err != nil || len(ports) != 3 {
		t.Fatalf("FreePorts() = %v, %v", ports, err)
	}
	for name, port := range ports { // all at once: two equal ones would clash
		if port < firstPort || port >= lastPort {
			t.Errorf("port %s: %d is where the system takes the ports of outgoing connections", name, port)
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Errorf("port %s: %v", name, err)
			continue
		}
		defer l.Close()
	}
}

func TestATakenPortIsNotFree(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if free(l.Addr().(*net.TCPAddr).Port) {
		t.Error("a port that is listened on counts as free")
	}
}

func TestLockAdmitsOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "kafka.lock")
	var inside, entered atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			unlock, err := Lock(context.Background(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d hold the lock", n)
			}
			entered.Add(1)
			inside.Add(-1)
		})
	}
	all.Wait()
	if n := entered.Load(); n != 8 {
		t.Errorf("%d of 8 had the lock", n)
	}
}

func TestLockGivesUpAndNamesTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Lock(ctx, path)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("Lock() = %v, want context.Canceled and process %d", err, os.Getpid())
	}
}

func TestLockOutlivesALeftOverFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
