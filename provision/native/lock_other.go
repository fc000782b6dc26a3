// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package native

import (
	"context"
	"errors"
)

func (corner) lock(context.Context) (func(), error) { return nil, errors.ErrUnsupported }
