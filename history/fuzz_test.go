// SPDX-License-Identifier: Apache-2.0

package history

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzDecodeBlock gives the decoder what no checksum has seen. It must neither panic nor
// hold more than a block; what it does decode must survive being written again.
func FuzzDecodeBlock(f *testing.F) {
	var w encoder
	for _, block := range append(syntheticBlocks(2), simple(maxRows)) {
		f.Add(w.block(nil, block[:40], 0, 0))
		f.Add(w.block(nil, block[:1], 7, 7*maxRows))
	}
	packer := archiver{out: mustTemp(f)}
	packer.zstd, _ = zstd.NewWriter(nil)
	if err := packer.block(w.block(nil, simple(maxRows), 0, 0)); err != nil {
		f.Fatal(err)
	}
	f.Add(packer.frame[frameSize:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		var d decoder
		v, err := new(unpacker).blockOf(payload)
		if err != nil {
			return
		}
		events, err := d.block(d.events, v, AllKinds, AllFields, 0)
		if cap(d.events) > maxRows {
			t.Fatalf("room for %d events", cap(d.events))
		}
		if err != nil {
			return
		}
		want := slices.Clone(events)
		if got := decodeBlock(t, &d, w.block(nil, want, 0, 0), AllKinds); !slices.Equal(got, want) {
			t.Fatalf("decoded %+v, written and decoded again %+v", want, got)
		}
	})
}

func mustTemp(t testing.TB) *os.File {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// FuzzOpen gives the reader any file as a segment, as names and as an open block.
func FuzzOpen(f *testing.F) {
	dir := recordOne(f, simple(60), false)
	segment, open := mustRead(f, filepath.Join(dir, "000-task.seg")), mustRead(f, filepath.Join(dir, "000-task.open"))
	names := mustRead(f, filepath.Join(dir, "names.seg"))
	closed := mustRead(f, filepath.Join(recordOne(f, simple(60), true), "000-task.seg"))
	manifest := mustRead(f, filepath.Join(dir, manifestName))
	f.Add(segment, names, open[:openPage+3*int64(eventSize)])
	f.Add(closed, names, open[:100])
	f.Add(mustRead(f, filepath.Join(mustArchive(f, recordOne(f, simple(60), true)), "000-task.seg")), names, open[:100])
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, segment, names, open []byte) {
		dir := t.TempDir()
		mustWrite(t, filepath.Join(dir, manifestName), manifest)
		mustWrite(t, filepath.Join(dir, "000-task.seg"), segment)
		mustWrite(t, filepath.Join(dir, "names.seg"), names)
		mustWrite(t, filepath.Join(dir, "000-task.open"), open)
		defer os.RemoveAll(dir)
		run, err := Open(dir)
		if err != nil {
			return
		}
		n := int64(0)
		if run.Each(AllKinds, func(*Event) { n++ }) == nil && n != run.Integrity.Events {
			t.Fatalf("%d events read, %d announced", n, run.Integrity.Events)
		}
	})
}
