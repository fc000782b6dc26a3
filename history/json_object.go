// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// jsonObject is one line: its fields in order, each at most once.
type jsonObject struct{ fields []jsonMember }

type jsonMember struct {
	name  string
	value jsonValue
}

// jsonValue is the text of a value; a field that is not there has none.
type jsonValue []byte

func jsonValues(line []byte) (*jsonObject, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	object := new(jsonObject)
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if object.index(name) >= 0 {
			return nil, fmt.Errorf("field %q is there twice", name)
		}
		object.fields = append(object.fields, jsonMember{name, jsonValue(value)})
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errors.New("the object does not end")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON object")
	}
	return object, nil
}

func (o *jsonObject) index(name string) int {
	return slices.IndexFunc(o.fields, func(m jsonMember) bool { return m.name == name })
}

// take removes a field.
func (o *jsonObject) take(name string) jsonValue {
	i := o.index(name)
	if i < 0 {
		return nil
	}
	value := o.fields[i].value
	o.fields = slices.Delete(o.fields, i, i+1)
	return value
}

func (v jsonValue) text(into *string) error {
	if v == nil {
		return errors.New("missing")
	}
	if v[0] != '"' {
		return fmt.Errorf("want a text, found %s", v)
	}
	return json.Unmarshal(v, into)
}

func (v jsonValue) number(into *int64) error {
	if v == nil {
		return errors.New("missing")
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return fmt.Errorf("want a whole number, found %s", v)
	}
	*into = n
	return nil
}
