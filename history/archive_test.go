// SPDX-License-Identifier: Apache-2.0

package history

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sizeOf is how many bytes the segments of a run take, names apart.
func sizeOf(t testing.TB, dir string) (size int64) {
	t.Helper()
	names, err := segmentFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "names") {
			size += info.Size()
		}
	}
	return size
}

func mustArchive(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "archive")
	if err := Archive(dir, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestArchiveSaysTheSame archives a run of three processes, one of them killed, and the
// archive once more.
func TestArchiveSaysTheSame(t *testing.T) {
	dir := recordSmall(t)
	want := mustExport(t, mustOpen(t, dir))
	first := mustArchive(t, dir)
	for _, archive := range []string{first, mustArchive(t, first)} {
		run := mustOpen(t, archive)
		if got := mustExport(t, run); got != want {
			t.Errorf("the archive says\n%s\nwant\n%s", got, want)
		}
		if len(run.Integrity.Findings) != 0 {
			t.Errorf("integrity %+v", run.Integrity)
		}
	}
}

// TestArchiveIsSmall holds it to 6 bytes an event; the exact figure is in the benchmarks.
func TestArchiveIsSmall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	var segments [syntheticTasks]*Segment
	for i := range segments {
		segments[i] = mustSegment(t, r, "task")
	}
	newSynthetic(1).messages(4000, func(task int, e *Event) { segments[task].Append(e) })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	archive := mustArchive(t, dir)
	run, archived := mustOpen(t, dir), mustOpen(t, archive)
	if !slices.Equal(readAll(t, archived, AllKinds), readAll(t, run, AllKinds)) {
		t.Error("the archive has other events")
	}
	events := float64(run.Integrity.Events)
	before, after := float64(sizeOf(t, dir))/events, float64(sizeOf(t, archive))/events
	t.Logf("%.2f bytes an event, archived %.2f", before, after)
	if before > 10 || after > 6 {
		t.Errorf("%.2f bytes an event, archived %.2f; want at most 10 and 6", before, after)
	}
}

// TestArchiveRefuses what is not whole, and to write over anything.
func TestArchiveRefuses(t *testing.T) {
	dir, to := recordOne(t, simple(10), true), filepath.Join(t.TempDir(), "archive")
	if err := Archive(dir, dir); err == nil {
		t.Error("archived over itself")
	}
	if err := os.Truncate(filepath.Join(dir, "000-task.seg"), 30); err != nil {
		t.Fatal(err)
	}
	for _, unwhole := range []string{dir, recordOne(t, simple(10), false), t.TempDir()} {
		if err := Archive(unwhole, to); err == nil {
			t.Errorf("archived %s", unwhole)
		}
		if _, err := os.Stat(to); !os.IsNotExist(err) {
			t.Fatal("a refusal left something")
		}
	}
}

// TestDamageOfAnArchiveIsNoticed flips a bit of every byte of its block.
func TestDamageOfAnArchiveIsNoticed(t *testing.T) {
	dir := mustArchive(t, recordOne(t, simple(300), true))
	path := filepath.Join(dir, "000-task.seg")
	damageFile(t, dir, path, 1)
}
