// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/storetest"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

func TestStore(t *testing.T) {
	dsn := os.Getenv("HARNESS_POSTGRES")
	if dsn == "" {
		s, err := Start(t.Context())
		if errors.Is(err, ErrUnavailable) {
			testenv.Lacks(t, "postgres", err.Error())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder of the server is left: %v", err)
			}
		})
		dsn = s.DSN()
	}
	n, run := 0, time.Now().UnixNano()
	storetest.Run(t, func(ctx context.Context, clk clock.Clock, mode effects.Mode) (effects.Store, error) {
		n++
		return Open(ctx, clk, dsn, fmt.Sprintf("test%d_%d", run, n), mode, time.Minute)
	})
}

func TestADSNIsInNoError(t *testing.T) {
	_, err := Open(t.Context(), nil, "postgres://user:hunter2@127.0.0.1:1/none", "run", effects.Plain, 0)
	if err == nil {
		t.Fatal("nobody listens, and no error")
	}
	for _, secret := range []string{"hunter2", "user"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error %q shows %q", err, secret)
		}
	}
}
