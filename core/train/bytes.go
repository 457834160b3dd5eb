package train

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
)

// byteRows are rows of bytes on their way to the backend, which makes features of
// them: a quarter of what features take, and in several threads.
type byteRows struct {
	host   []byte
	packed compute.Buffer // four to a value
	table  compute.Buffer // the feature that each byte is
}

// newByteRows is nil where something is done to rows before they are features of the
// model, or where they are no bytes.
func (f *feed) newByteRows(rows int) *byteRows {
	table := f.scale.Table()
	if table == nil || f.augmentation != nil || !f.pipe.Plain() {
		return nil
	}
	n := rows * f.ds.Features
	b := &byteRows{make([]byte, n), f.be.New((n + 3) / 4), f.be.New(len(table))}
	f.be.Write(b.table, table[:])
	return b
}

// load writes the features of rows of split to x [rows×features].
func (b *byteRows) load(be compute.Backend, split *data.Split, rows []int, features int, x compute.Buffer) {
	n := len(rows) * features
	split.Bytes(b.host[:n], rows)
	be.WriteBytes(b.packed, b.host[:n])
	kernel.LookUp(be, len(rows), features, b.table, b.packed, x)
}
