// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// A lease of 30 seconds runs out under a handler that takes 45, in no real time. The same
// program runs on clock.NewWall, where it takes 45 seconds.
func Example() {
	v := clock.NewVirtual(1)
	defer v.Close()
	err := v.Run("main", func(ctx context.Context) {
		v.At(ctx, 30*time.Second, func() { fmt.Println(v.Now(), "the lease has expired") })
		v.Go(ctx, "worker", func(ctx context.Context) {
			v.Sleep(ctx, 45*time.Second)
			fmt.Println(v.Now(), "the handler is done")
		}).Join(ctx)
	})
	fmt.Println(err)
	// Output:
	// 30s the lease has expired
	// 45s the handler is done
	// <nil>
}
