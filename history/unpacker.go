// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// unpacker gives the blocks of frames, also of those that an archive packed. It keeps its
// memory from block to block; the zero value is ready.
type unpacker struct {
	zstd  *zstd.Decoder
	block []byte
}

// blockOf views the block of a frame's payload. It is valid until the next call.
func (u *unpacker) blockOf(payload []byte) (blockView, error) {
	f := fields{rest: payload}
	if !f.next() {
		return blockView{}, errBlock
	}
	switch f.field {
	case frameBlock:
		return viewBlock(f.data)
	case framePacked:
		if err := u.unpack(f.data); err != nil {
			return blockView{}, err
		}
		return viewBlock(u.block)
	}
	return blockView{}, errBlock
}

func (u *unpacker) unpack(packed []byte) (err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload))
		if err != nil {
			return fmt.Errorf("zstd: %w", err)
		}
	}
	u.block, err = u.zstd.DecodeAll(packed, u.block[:0])
	if err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	return nil
}
