package train

import (
	"encoding/binary"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
)

// byteRows makes features of rows of bytes on the backend: bytes are a quarter of what features
// take, and several threads share the work. Where the backend has memory for all rows,
// they are written once, and a step writes their numbers alone.
type byteRows struct {
	host   []byte                         // a physical batch, or its rows' numbers
	packed compute.Buffer                 // host, four to a value
	table  compute.Buffer                 // the feature that each byte is
	planes int                            // of colour that are turned round
	all    map[*data.Split]compute.Buffer // the rows; nil: they are written when they are asked for
}

// mostWritten bounds the bytes of a data set that are copied at once on their way.
const mostWritten = 1 << 22

// newByteRows returns nil where rows are no bytes, or where more is done to them than is done here.
func (f *feed) newByteRows(rows int) *byteRows {
	b := &byteRows{planes: f.pipe.Planes()}
	table := f.scale.Table()
	if table == nil || f.augmentation != nil || b.planes == 0 || b.planes > 1 && !f.resident {
		return nil
	}
	b.host = make([]byte, rows*f.ds.Features)
	if f.resident {
		b.host = make([]byte, 4*rows)
		b.all = map[*data.Split]compute.Buffer{}
		splits := []*data.Split{&f.ds.Train, &f.ds.Test}
		if p := f.terms.PublicRows; p != nil {
			splits = append(splits, &p.Split)
		}
		for _, split := range splits {
			b.all[split] = b.written(f.be, split.U8)
		}
	}
	b.packed, b.table = f.be.New((len(b.host)+3)/4), f.be.New(len(table))
	f.be.Write(b.table, table[:])
	return b
}

// written returns a buffer of these bytes.
func (b *byteRows) written(be compute.Backend, bytes []byte) compute.Buffer {
	x := be.New((len(bytes) + 3) / 4)
	for at := 0; at < len(bytes); at += mostWritten {
		part := bytes[at:min(at+mostWritten, len(bytes))]
		be.WriteBytes(x.Slice(at/4, (len(part)+3)/4), part)
	}
	return x
}

// load writes the features of rows of split, one of the data set's or the public ones, to x [rows×features].
func (b *byteRows) load(be compute.Backend, split *data.Split, rows []int, features int, x compute.Buffer) {
	if b.all != nil {
		for i, row := range rows {
			binary.LittleEndian.PutUint32(b.host[4*i:], uint32(row))
		}
		be.WriteBytes(b.packed, b.host[:4*len(rows)])
		kernel.PickRows(be, len(rows), features, b.planes, b.table, b.packed, b.all[split], x)
		return
	}
	n := len(rows) * features
	split.Bytes(b.host[:n], rows)
	be.WriteBytes(b.packed, b.host[:n])
	kernel.LookUp(be, len(rows), features, b.table, b.packed, x)
}
