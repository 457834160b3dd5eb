package source

import (
	"hash/maphash"
	"io"

	"clipscope/core/data"
)

// WarnAlike warns of files to train on that have the same content under two names. It reads each at most
// once, and only those of the same size as another.
func WarnAlike(in *Reading, train []File) error {
	sizes := map[int64]int{}
	for _, f := range train {
		sizes[f.Size()]++
	}
	seed, first := maphash.MakeSeed(), map[content]File{}
	for _, f := range train {
		if sizes[f.Size()] < 2 {
			continue
		}
		has, ok, err := contentOf(in, f, seed)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if g, seen := first[has]; !seen {
			first[has] = f
		} else if g.Name() != f.Name() { // of the latter split has warned
			WarnTwice(in, g.Name(), f.Name())
		}
	}
	return nil
}

// WarnTwice warns of two files to train on that have the same content.
func WarnTwice(in *Reading, one, other string) {
	in.Warn("%s and %s are the same: each row of theirs counts twice, and more can be learnt of it than ε says. Leave one out.", data.Shorten(one), data.Shorten(other))
}

// content tells what files hold apart.
type content struct {
	size   int64
	packed bool
	sum    uint64
}

// contentOf returns a hash of f's content. Of an entry of a zip archive it is the checksum, as unpacking costs.
// ok is false of what is compared as it is read.
func contentOf(in *Reading, f File, seed maphash.Seed) (c content, ok bool, err error) {
	switch f := f.(type) {
	case *Entry:
		if sum, ok := f.sum(); ok {
			return content{f.Size(), true, uint64(sum)}, true, in.Step(MostNamed)
		}
	case *Archive, *Folder:
		return content{}, false, nil
	}
	s, err := in.Open(f, PhaseSniff)
	if err != nil {
		return content{}, false, err
	}
	defer s.Close()
	var h maphash.Hash
	h.SetSeed(seed)
	_, err = io.Copy(&h, s)
	return content{f.Size(), false, h.Sum64()}, true, err
}
