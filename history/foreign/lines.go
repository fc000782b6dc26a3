// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// eachLine reads an input from its beginning, line by line. What is wrong with a line is an
// error, unless it is a last one without its end: the tool was stopped while it wrote it.
func (r *run) eachLine(in Input, do func(line []byte) error) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	lines.Split(withEnd)
	n := 1
	for ; lines.Scan(); n++ {
		line, whole := bytes.CutSuffix(lines.Bytes(), []byte("\n"))
		err := do(bytes.TrimSuffix(line, []byte("\r")))
		if err != nil && whole {
			return fmt.Errorf("%s: line %d: %w", in.Name, n, err)
		}
		if err != nil {
			r.skip(in.Name)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s: line %d: longer than %d bytes", in.Name, n, maxLine)
	case err != nil:
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	return nil
}

// withEnd splits lines and leaves their ends.
func withEnd(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
