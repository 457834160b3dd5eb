package data

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
)

// Digest tells training sets apart: SHA-256 over salt, the task, the sizes and
// the training rows in their order. The test rows do not count, for no privacy
// is spent on them.
//
// Guarantee: none on its own. A digest without a secret salt lets anyone check
// a guess of the whole data set; callers salt it and keep the salt.
func Digest(ds *Dataset, salt []byte) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s|%s|%d|%d|%d|", len(salt), salt, ds.Task, ds.Train.N, ds.Features, ds.Outputs)
	if ds.Train.U8 != nil {
		h.Write(ds.Train.U8)
	} else {
		writeFloats(h, ds.Train.F32)
	}
	writeFloats(h, ds.Train.Y)
	return [sha256.Size]byte(h.Sum(nil))
}

func writeFloats(h hash.Hash, a []float32) {
	var buf [4096]byte
	for len(a) > 0 {
		n := min(len(a), len(buf)/4)
		for i, v := range a[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
		}
		h.Write(buf[:4*n])
		a = a[n:]
	}
}
