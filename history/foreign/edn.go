// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// This file reads EDN, as far as histories are written in it: maps, vectors, lists, sets,
// keywords, symbols, strings, characters, numbers and nil. Tags and metadata are read and
// dropped.
//
// A form is nil, bool, int64, float64, string, keyword, symbol, a list ([]any: vectors,
// lists and sets) or an object.

// keyword is :name, without the colon; symbol is any other bare word.
type (
	keyword string
	symbol  string
)

// object is a map in order.
type object []pair

type pair struct{ key, value any }

// get is the value of a keyword, nil where there is none.
func (o object) get(name string) any {
	for _, p := range o {
		if p.key == keyword(name) {
			return p.value
		}
	}
	return nil
}

const (
	maxDepth = 64
	// maxForm bounds the bytes of one top-level form.
	maxForm = 1 << 22
	// maxToken bounds a string or a word.
	maxToken = 1 << 16
)

var (
	errDepth = fmt.Errorf("nested deeper than %d", maxDepth)
	errLarge = fmt.Errorf("a form of more than %d bytes", maxForm)
	errLong  = fmt.Errorf("a word or string longer than %d bytes", maxToken)
	errClose = errors.New("closed what was not open")
)

// ednReader reads forms, one after another.
type ednReader struct {
	in   *bufio.Reader
	line int
	size int // of the form that is being read
	// inside: the whole file is one vector, whose elements are the forms.
	inside bool
	begun  bool
}

func newEDN(in io.Reader) *ednReader { return &ednReader{in: bufio.NewReader(in), line: 1} }

// next reads the next form; the error at the end is io.EOF. A vector at the top stands for
// its elements.
func (r *ednReader) next() (any, error) {
	for {
		r.size = 0
		c, err := r.first()
		if err != nil {
			return nil, err
		}
		if !r.begun && c == '[' {
			r.begun, r.inside = true, true
			continue
		}
		r.begun = true
		if c == ']' && r.inside {
			return nil, io.EOF
		}
		form, err := r.form(c, 0)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.line, unexpected(err))
		}
		if form != (dropped{}) {
			return form, nil
		}
	}
}

// unexpected is the end of a file inside a form.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// first is the next byte that means something: spaces, commas and comments do not.
func (r *ednReader) first() (byte, error) {
	for {
		c, err := r.byte()
		switch {
		case err != nil:
			return 0, err
		case c == ';':
			if err := r.comment(); err != nil {
				return 0, err
			}
		case c > ' ' && c != ',':
			return c, nil
		}
	}
}

func (r *ednReader) byte() (byte, error) {
	c, err := r.in.ReadByte()
	r.size++
	if c == '\n' {
		r.line++
	}
	return c, err
}

func (r *ednReader) back() { _ = r.in.UnreadByte() } // what was just read

func (r *ednReader) comment() error {
	for {
		c, err := r.byte()
		if err != nil || c == '\n' {
			return err
		}
	}
}

// form reads what begins with a byte.
func (r *ednReader) form(c byte, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	if r.size > maxForm {
		return nil, errLarge
	}
	switch c {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(']', depth)
	case '(':
		return r.list(')', depth)
	case '"':
		return r.text()
	case '\\':
		return r.character()
	case '#':
		return r.dispatch(depth)
	case '^':
		return r.second(depth)
	case '}', ']', ')':
		return nil, errClose
	}
	word, err := r.word(c)
	if err != nil {
		return nil, err
	}
	return named(word), nil
}

// list reads forms up to a closing byte.
func (r *ednReader) list(end byte, depth int) ([]any, error) {
	all := []any{}
	for {
		c, err := r.first()
		if err != nil {
			return nil, err
		}
		if c == end {
			return all, nil
		}
		form, err := r.form(c, depth+1)
		if err != nil {
			return nil, err
		}
		if form != (dropped{}) {
			all = append(all, form)
		}
	}
}

func (r *ednReader) object(depth int) (object, error) {
	forms, err := r.list('}', depth)
	if err != nil {
		return nil, err
	}
	if len(forms)%2 != 0 {
		return nil, errors.New("a map with a key and no value")
	}
	o := make(object, 0, len(forms)/2)
	for i := 0; i < len(forms); i += 2 {
		o = append(o, pair{forms[i], forms[i+1]})
	}
	return o, nil
}

// dropped stands for a form that is to be passed over.
type dropped struct{}

// dispatch reads what follows #: a set, a form to drop, or a tag and its form.
func (r *ednReader) dispatch(depth int) (any, error) {
	c, err := r.byte()
	if err != nil {
		return nil, err
	}
	switch {
	case c == '{':
		return r.list('}', depth)
	case c == '_':
		if _, err := r.following(depth); err != nil {
			return nil, err
		}
		return dropped{}, nil
	case c == '#':
		word, err := r.word(c) // ##Inf, ##NaN
		return symbol(word), err
	case c == '"':
		return r.text() // a pattern
	case c <= ' ':
		return nil, errors.New("# before nothing")
	}
	if _, err := r.word(c); err != nil {
		return nil, err
	}
	return r.following(depth)
}

// second reads metadata and the form that it is of.
func (r *ednReader) second(depth int) (any, error) {
	if _, err := r.following(depth); err != nil {
		return nil, err
	}
	return r.following(depth)
}

// following is the next form that stays: what stands between is passed over.
func (r *ednReader) following(depth int) (any, error) {
	for {
		c, err := r.first()
		if err != nil {
			return nil, err
		}
		form, err := r.form(c, depth+1)
		if err != nil || form != (dropped{}) {
			return form, err
		}
	}
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', 'b': '\b', 'f': '\f'}

func (r *ednReader) text() (string, error) {
	var b strings.Builder
	for b.Len() <= maxToken {
		c, err := r.byte()
		if err != nil {
			return "", err
		}
		if c == '"' {
			return b.String(), nil
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		if c, err = r.byte(); err != nil {
			return "", err
		}
		plain, known := escapes[c]
		if !known {
			b.WriteByte('\\') // a character by number stays as it is written
			plain = c
		}
		b.WriteByte(plain)
	}
	return "", errLong
}

// character reads one that is written by itself or by its name; it stays as it is written.
func (r *ednReader) character() (string, error) {
	c, err := r.byte()
	if err != nil {
		return "", err
	}
	rest, err := r.word(c)
	return `\` + rest, err
}

// word reads up to where a word ends.
func (r *ednReader) word(first byte) (string, error) {
	b := []byte{first}
	for len(b) <= maxToken {
		c, err := r.byte()
		if errors.Is(err, io.EOF) {
			return string(b), nil
		}
		if err != nil {
			return "", err
		}
		if c <= ' ' || strings.IndexByte(",;\"()[]{}", c) >= 0 {
			if c == '\n' {
				r.line--
			}
			r.back()
			return string(b), nil
		}
		b = append(b, c)
	}
	return "", errLong
}

// named is what a bare word stands for.
func named(word string) any {
	switch word {
	case "nil":
		return nil
	case "true":
		return true
	case "false":
		return false
	}
	if name, is := strings.CutPrefix(word, ":"); is {
		return keyword(name)
	}
	number := strings.TrimRight(word, "NM")
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err == nil:
		return n
	case errors.Is(err, strconv.ErrRange):
		return symbol(number) // told from others by all of its digits
	}
	if word[0] != '+' && word[0] != '-' && (word[0] < '0' || word[0] > '9') {
		return symbol(word)
	}
	if x, err := strconv.ParseFloat(number, 64); err == nil {
		return x
	}
	return symbol(word)
}
