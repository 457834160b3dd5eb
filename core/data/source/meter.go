package source

import (
	"io"
	"time"
)

// The phases of a reading.
const (
	PhaseScan  = "scan"
	PhaseRead  = "read"
	PhaseSniff = "" // not reported
)

const (
	// HeadSize is the number of bytes of a file that are looked at to recognise it.
	HeadSize = 64 << 10
	// ProgressAfter is the longest time between two reports: few bytes may decompress to many.
	ProgressAfter = 250 * time.Millisecond

	progressEvery = 1 << 20   // stored bytes between two reports at most
	mostPerRead   = 256 << 10 // so that cancelling and progress are prompt
)

// Progress says how far a reading is: Done of Total stored bytes of one file in one
// phase. Tables and compressed CIFAR records are read twice: "scan" learns what
// there is, "read" fills the rows; other images have only "read".
type Progress struct {
	Phase string `json:"phase"`
	File  string `json:"file"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// Meter counts the stored bytes of File that are done, reports them and ends reading when the
// context does.
type Meter struct {
	in       *Reading
	rc       io.ReadCloser
	File     File
	phase    string
	Done     int64
	reported int64
	told     time.Time
}

func (m *Meter) Read(p []byte) (int, error) {
	for {
		if err := m.Check(false); err != nil {
			return 0, err
		}
		n, err := m.rc.Read(p[:min(len(p), mostPerRead)])
		m.Done += int64(n)
		if stored, ok := m.rc.(interface{ Done() int64 }); ok { // what is read is not what is stored
			m.Done = stored.Done()
		}
		if err == io.EOF && m.Done > m.reported {
			m.Check(true)
		}
		if n > 0 || err != nil || len(p) == 0 { // or else there is nothing yet
			return n, err
		}
	}
}

// Check reports progress when it is time to. The error is the context's.
func (m *Meter) Check(end bool) error {
	if err := m.in.Ended(); err != nil {
		return err
	}
	if m.in.Progress == nil || m.phase == PhaseSniff {
		return nil
	}
	now := m.in.Now()
	if end || m.Done-m.reported >= progressEvery || now.Sub(m.told) >= ProgressAfter {
		m.reported, m.told = m.Done, now
		m.in.Progress(Progress{Phase: m.phase, File: m.File.Name(), Done: m.Done, Total: m.File.Size()})
	}
	return nil
}
