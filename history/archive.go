// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Archive writes a run once more, to a directory that must not exist, with its blocks
// compressed: it is read like any other. Only a run that is whole is archived. What a
// killed process left open is sealed. After an error the directory is gone again.
func Archive(dir, to string) error {
	run, err := Open(dir)
	if err != nil {
		return err
	}
	if run.Header.Unfinished || !run.Integrity.Complete() {
		return fmt.Errorf("history: archive %s: the record is not whole, and an archive would hide that", dir)
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("history: archive: %w", err)
	}
	if err := archive(run, dir, to); err != nil {
		return errors.Join(fmt.Errorf("history: archive %s: %w", dir, err), os.RemoveAll(to))
	}
	return nil
}

func archive(run *Run, dir, to string) error {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return err
	}
	a := archiver{to: to, zstd: packer}
	defer a.giveUp()
	done := map[string]bool{}
	for i := range run.parts {
		if err := a.segment(&run.parts[i]); err != nil {
			return err
		}
		done[filepath.Base(run.parts[i].path)] = true
	}
	names, err := segmentFiles(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if done[name] {
			continue
		}
		if err := a.names(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	files, err := sealFiles(to)
	if err != nil {
		return err
	}
	return writeManifest(to, &run.Header, files)
}

// archiver writes the files of an archive.
type archiver struct {
	to      string
	zstd    *zstd.Encoder
	encoder encoder
	out     *os.File
	frame   []byte
}

// segment packs the blocks of one task.
func (a *archiver) segment(p *part) error {
	c, err := newCursor(p, AllKinds, AllFields, nil)
	if err != nil {
		return err
	}
	defer c.close()
	h := p.head
	h.version = archivedVersion
	err = a.create(filepath.Base(p.path), h)
	for i := 0; err == nil && i < len(p.blocks); i++ {
		var payload []byte
		if payload, err = c.read(i); err == nil {
			err = a.block(payload)
		}
	}
	blocks := uint64(len(p.blocks))
	if err == nil && len(p.tail) > 0 {
		err = a.tail(p, blocks)
		blocks++
	}
	if err != nil {
		return err
	}
	return a.close(uint64(p.events()), blocks)
}

// tail seals what was open, with the names as its process numbered them.
func (a *archiver) tail(p *part, ordinal uint64) error {
	_, slots, err := readOpenBlock(openPath(p.path))
	if err != nil {
		return err
	}
	return a.block(a.encoder.block(nil, slots, ordinal, ordinal*maxRows))
}

// block writes the block of a payload, packed unless it is already or would not shrink.
func (a *archiver) block(payload []byte) error {
	f := fields{rest: payload}
	f.next()
	b := appendTag(beginFrame(a.frame[:0]), framePacked, wireBytes)
	start := len(b)
	a.frame = wrap(a.zstd.EncodeAll(f.data, b), start)
	if f.field == framePacked || len(a.frame) >= len(payload)+frameSize {
		a.frame = append(beginFrame(a.frame[:0]), payload...)
	}
	return a.write()
}

// names copies the names of a process, and closes them if it did not.
func (a *archiver) names(path string) error {
	scan, f, err := openFrames(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h, _, err := readHead(scan)
	if err != nil {
		return err
	}
	if err := a.create(filepath.Base(path), h); err != nil {
		return err
	}
	count := uint64(0)
	for scan.scan() {
		if scan.payload[0] != frameNames<<3|wireBytes {
			continue
		}
		a.frame = append(beginFrame(a.frame[:0]), scan.payload...)
		if err := a.write(); err != nil {
			return err
		}
		count++
	}
	return errors.Join(scan.err, a.close(count, 0))
}

func (a *archiver) create(name string, h head) (err error) {
	a.out, _, err = createFile(filepath.Join(a.to, name), h)
	return err
}

// write adds the frame.
func (a *archiver) write() error {
	_, err := a.out.Write(endFrame(a.frame))
	return err
}

// giveUp closes what an error left open.
func (a *archiver) giveUp() {
	if a.out != nil {
		a.out.Close()
	}
}

// close ends a file with its footer.
func (a *archiver) close(events, blocks uint64) error {
	a.frame = appendFooter(beginFrame(a.frame[:0]), events, blocks)
	return errors.Join(a.write(), a.out.Close())
}
