package source

import "clipscope/core/data"

// Limits bounds the memory and the work that a file may ask for. It is a struct so that tests
// need no gigabytes to meet a limit.
type Limits struct {
	Bytes      int64 // of all rows, see Reading.Claim
	Features   int
	Columns    int   // of a table
	Categories int   // of a categorical column
	Category   int   // bytes of one
	Texts      int64 // bytes of all categories of all columns, while they are counted
	Kept       int64 // bytes of a table's rows that are kept for the second pass
	Classes    int
	Record     int64 // bytes of one row of a table
	Directory  int64 // bytes of an archive's directory
	Heads      int64 // bytes of the beginnings of files that are held of a gzipped tar archive
	Tables     int   // in archives, each of which is opened several times
	Picture    int64 // bytes of one, as stored
	Side       int   // pixels of one, across or down
	Pixels     int   // of one
	Decoding   int64 // bytes that the decoder of one holds at once
	Decoded    int64 // bytes that are decoded of all pictures, whatever their files allow
	Passes     int   // of a progressive JPEG's scans over its pixels
}

// DefaultLimits returns the limits of the page.
func DefaultLimits() Limits {
	return Limits{
		Bytes:      data.MostBytes,
		Features:   data.MostFeatures,
		Columns:    20_000,
		Categories: 1000,
		Category:   1000,
		Texts:      64 << 20,
		Kept:       64 << 20,
		Classes:    1000,
		Record:     4 << 20,
		Directory:  16 << 20, // some 200,000 files
		Heads:      16 << 20,
		Tables:     10_000,
		Picture:    32 << 20,
		Side:       1<<16 - 1,
		Pixels:     70_000_000, // phones have up to 64 million
		Decoding:   400 << 20,  // Go's decoders take from 1 to 17 bytes a pixel
		Decoded:    1 << 30,    // 120 pages at 300 dpi of grey, 40 of colours
		Passes:     32,         // cameras and tools make 5 to 10 of colours, and at most 20 of grey
	}
}
