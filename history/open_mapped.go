// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd

package history

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// mapping keeps the open block in a shared mapping of its file: what is stored is in
// the file even if the process is killed at the next instruction (not if the machine
// loses power). The file is reserved before it is stored to, because a store that finds
// the disk full kills the process.
type mapping struct {
	file     *os.File
	memory   []byte
	reserved int64
}

// openIn begins the open block in a file, mapped where the file system can.
func openIn(path string) (openBlock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return openBlock{}, err
	}
	m := &mapping{file: f}
	err = m.create()
	if err == nil {
		page := (*openPageWords)(unsafe.Pointer(unsafe.SliceData(m.memory)))
		*page = newOpenPage(1)
		return openBlock{keeper: m, state: &page.state, dropped: &page.dropped}, nil
	}
	f.Close()
	os.Remove(path)
	if errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.EINVAL) {
		return openWritten(path)
	}
	return openBlock{}, err
}

func (m *mapping) create() (err error) {
	if err = m.reserve(openPage); err != nil {
		return err
	}
	m.memory, err = syscall.Mmap(int(m.file.Fd()), 0, int(openSize), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return err
}

func (m *mapping) reserve(size int64) error {
	if err := reserve(m.file, m.reserved, size-m.reserved); err != nil {
		return &os.PathError{Op: "reserve", Path: m.file.Name(), Err: err}
	}
	m.reserved = size
	return nil
}

func (m *mapping) grow(slots []Event) ([]Event, error) {
	n := min(len(slots)+growth, maxRows)
	if err := m.reserve(openPage + int64(n)*int64(eventSize)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*Event)(unsafe.Pointer(&m.memory[openPage])), n), nil
}

func (m *mapping) close(sealed bool) error {
	return errors.Join(syscall.Munmap(m.memory), m.file.Close(), removeIf(sealed, m.file.Name()))
}

// reserveZeros takes room on the disk by writing to it.
func reserveZeros(f *os.File, at, n int64) error {
	_, err := f.WriteAt(make([]byte, n), at)
	return err
}
