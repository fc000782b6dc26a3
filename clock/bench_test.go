// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkSleep shares b.N sleeps among tasks; one task takes the fast path.
func BenchmarkSleep(b *testing.B) {
	for _, tasks := range []int{1, 2, 10, 1000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) { benchSleep(b, tasks, false) })
	}
	b.Run("tasks=1/long-way", func(b *testing.B) { benchSleep(b, 1, true) })
}

func benchSleep(b *testing.B, tasks int, noSkip bool) {
	v := NewVirtual(1)
	v.noSkip = noSkip
	defer v.Close()
	b.ReportAllocs()
	run(b, v, func(ctx context.Context) {
		all := make([]Task, tasks)
		for i := range all {
			all[i] = v.Go(ctx, "sleeper", func(ctx context.Context) {
				for range b.N/tasks + 1 {
					v.Sleep(ctx, time.Millisecond)
				}
			})
		}
		join(ctx, all...)
	})
}

func BenchmarkGatePingPong(b *testing.B) {
	v := NewVirtual(1)
	defer v.Close()
	b.ReportAllocs()
	run(b, v, func(ctx context.Context) {
		ping, pong := v.NewGate("ping"), v.NewGate("pong")
		v.Go(ctx, "echo", func(ctx context.Context) {
			for i := range b.N {
				ping.Wait(ctx, uint64(i))
				pong.Wake()
			}
		})
		for i := range b.N {
			ping.Wake()
			pong.Wait(ctx, uint64(i))
		}
	})
}

func BenchmarkGo(b *testing.B) {
	v := NewVirtual(1)
	defer v.Close()
	b.ReportAllocs()
	run(b, v, func(ctx context.Context) {
		for range b.N {
			v.Go(ctx, "task", func(context.Context) {}).Join(ctx)
		}
	})
}

func BenchmarkWithTimeoutSleep(b *testing.B) {
	v := NewVirtual(1)
	defer v.Close()
	b.ReportAllocs()
	run(b, v, func(ctx context.Context) {
		for range b.N {
			under, cancel := v.WithTimeout(ctx, 5*time.Second)
			v.Sleep(under, time.Millisecond)
			cancel()
		}
	})
}

func BenchmarkPost(b *testing.B) {
	v := NewVirtual(1)
	defer v.Close()
	b.ReportAllocs()
	run(b, v, func(ctx context.Context) {
		fn := func() {}
		for range b.N {
			v.Post(ctx, fn)
			v.Sleep(ctx, time.Microsecond)
		}
	})
}

// BenchmarkRun is a whole run of eight tasks, with one killed and reaped.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		v := NewVirtual(uint64(i))
		run(b, v, func(ctx context.Context) {
			var all [8]Task
			for i := range all {
				all[i] = v.Go(ctx, "task", func(ctx context.Context) { v.Sleep(ctx, time.Second) })
			}
			all[0].Kill()
			join(ctx, all[:]...)
		})
		v.Close()
	}
}

func BenchmarkWall(b *testing.B) {
	b.Run("sleep-zero", func(b *testing.B) {
		w := NewWall(1)
		defer w.Close()
		b.ReportAllocs()
		run(b, w, func(ctx context.Context) {
			for range b.N {
				w.Sleep(ctx, 0)
			}
		})
	})
	b.Run("gate-ping-pong", func(b *testing.B) {
		w := NewWall(1)
		defer w.Close()
		b.ReportAllocs()
		run(b, w, func(ctx context.Context) {
			ping, pong := w.NewGate("ping"), w.NewGate("pong")
			w.Go(ctx, "echo", func(ctx context.Context) {
				for i := range b.N {
					ping.Wait(ctx, uint64(i))
					pong.Wake()
				}
			})
			for i := range b.N {
				ping.Wake()
				pong.Wait(ctx, uint64(i))
			}
		})
	})
	b.Run("post", func(b *testing.B) {
		w := NewWall(1)
		defer w.Close()
		b.ReportAllocs()
		run(b, w, func(ctx context.Context) {
			fn := func() {}
			for range b.N {
				w.Post(ctx, fn)
			}
		})
	})
}
