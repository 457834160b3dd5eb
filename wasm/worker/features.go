package worker

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"clipscope/core/data"
)

// Features stores features, so that they are made once. It is in the
// browser's storage, on this device, and as private as the rows that they were made of.
type Features interface {
	// Open opens the file of a name, or returns nil where there is none.
	Open(name string) (io.ReadCloser, error)
	// Create makes a file of so many bytes under a name, in the place of the oldest where that
	// is needed. A file that is not closed is not kept.
	Create(name string, size int64) (io.WriteCloser, error)
	Remove(name string) error
	// Clear removes all, and returns their number of bytes.
	Clear() (int64, error)
}

// featuresMagic begins a file of features, and ends with the version of the format: a
// length of 4 bytes, [featured] as JSON, float32 of all rows, and a CRC-32 of these.
// Numbers have the least significant byte first.
const featuresMagic = "clipscope features\x01"

const mostInfo = 1 << 16 // bytes of JSON

var errFeatures = errors.New("the file is damaged")

// featureStore writes and reads features in their format; without a [Features] it has none.
type featureStore struct{ files Features }

// load returns the features of rows that are stored under a key; nil where there are none, or
// not whole ones. It calls done as rows are read.
func (s featureStore) load(rows *data.Dataset, key string, done func(done, total int)) (*data.Dataset, featured, error) {
	var info featured
	if s.files == nil {
		return nil, info, nil
	}
	rc, err := s.files.Open(key)
	if err != nil || rc == nil {
		return nil, info, nil // as where nothing may be stored
	}
	x, info, err := readFeatures(rc)
	var made *data.Dataset
	if err == nil {
		made, _, err = data.Featured(context.Background(), rows, x, info.Backbone, done)
	}
	if err == nil {
		err = x.end()
	}
	rc.Close()
	if err != nil {
		s.files.Remove(key) // it is made again
		return nil, info, nil
	}
	info.Cached = true
	return made, info, nil
}

// save stores features. An error leaves nothing behind.
func (s featureStore) save(key string, ds *data.Dataset, info featured) error {
	if s.files == nil {
		return nil
	}
	head, err := json.Marshal(info)
	if err != nil {
		return err
	}
	size := int64(len(featuresMagic) + 4 + len(head) + 4*(len(ds.Train.F32)+len(ds.Test.F32)) + 4)
	w, err := s.files.Create(key, size)
	if err != nil {
		return err
	}
	if err := errors.Join(writeFeatures(w, head, ds.Train.F32, ds.Test.F32), w.Close()); err != nil {
		return errors.Join(err, s.files.Remove(key))
	}
	return nil
}

func writeFeatures(w io.Writer, head []byte, splits ...[]float32) error {
	b := append([]byte(featuresMagic), binary.LittleEndian.AppendUint32(nil, uint32(len(head)))...)
	if _, err := w.Write(append(b, head...)); err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	for _, split := range splits {
		for _, v := range split {
			if _, err := out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), math.Float32bits(v))); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// featureReader reads stored features in the order of the rows: a [data.Extractor].
type featureReader struct {
	r     *bufio.Reader
	width int
	sum   uint32
	buf   []byte
}

// readFeatures reads the beginning of a file of features.
func readFeatures(r io.Reader) (*featureReader, featured, error) {
	var info featured
	b := bufio.NewReaderSize(r, 1<<16)
	head := make([]byte, len(featuresMagic)+4)
	if _, err := io.ReadFull(b, head); err != nil || string(head[:len(featuresMagic)]) != featuresMagic {
		return nil, info, errFeatures
	}
	n := binary.LittleEndian.Uint32(head[len(featuresMagic):])
	if n > mostInfo {
		return nil, info, errFeatures
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(b, text); err != nil || json.Unmarshal(text, &info) != nil {
		return nil, info, errFeatures
	}
	return &featureReader{r: b, width: info.Width}, info, nil
}

func (k *featureReader) Width() int { return k.width }

func (k *featureReader) Extract(_ context.Context, rows data.Split, dst []float32) error {
	n := 4 * len(dst)
	if cap(k.buf) < n {
		k.buf = make([]byte, n)
	}
	if _, err := io.ReadFull(k.r, k.buf[:n]); err != nil {
		return errFeatures
	}
	k.sum = crc32.Update(k.sum, crc32.IEEETable, k.buf[:n])
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(k.buf[4*i:]))
	}
	return nil
}

// end returns an error unless all was read, as it was written.
func (k *featureReader) end() error {
	rest, err := io.ReadAll(io.LimitReader(k.r, 5))
	if err != nil || len(rest) != 4 || binary.LittleEndian.Uint32(rest) != k.sum {
		return errFeatures
	}
	return nil
}

// clear removes all features, and returns their number of bytes.
func (s featureStore) clear(Request) (any, error) {
	if s.files == nil {
		return int64(0), nil
	}
	n, err := s.files.Clear()
	if err != nil {
		return nil, fmt.Errorf("worker: removing kept features: %w", err)
	}
	return n, nil
}
