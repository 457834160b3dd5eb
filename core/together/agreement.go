package together

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
)

// Agreement holds all that decides a run of several parties but rows and secrets. It is the same for all, and never
// changes. Whoever opens a room makes one; the others make theirs of their own data, and compare.
type Agreement struct {
	Config run.Config `json:"config"` // with defaults, without what each decides alone
	Data   Common     `json:"data"`
	Seed   []byte     `json:"seed"` // drawn by who opens the room: 32 bytes that everybody may know
}

// Common describes the data sets of all parties.
type Common struct {
	Task         data.Task     `json:"task"`
	Features     int           `json:"features"`
	Shape        []int         `json:"shape,omitempty"`
	Classes      []string      `json:"classes,omitempty"`
	Outputs      int           `json:"outputs"`
	Columns      []data.Column `json:"columns,omitempty"`
	Bounds       []data.Bound  `json:"bounds,omitempty"`
	TargetBounds []data.Bound  `json:"target_bounds,omitempty"`
	Backbone     *run.Backbone `json:"backbone,omitempty"`
}

// NewAgreement makes the agreement to a run of cfg, which has its defaults, on data like these.
func NewAgreement(cfg run.Config, meta data.Meta, classes []string, seed [32]byte) Agreement {
	// What each party decides alone: how its files are read, and on what it trains.
	cfg.Data, cfg.CSV, cfg.Note, cfg.Backend, cfg.Threads, cfg.MaxPhysicalBatchSize = "", run.CSV{}, "", "", 0, 0
	cfg.DiagnosticsEvery, cfg.EvalSteps, cfg.Blind = 0, 0, false
	columns := slices.Clone(meta.Columns)
	for i := range columns {
		c := &columns[i]
		// That cells are missing is a file's own, and so is how it writes numbers.
		c.Missing, c.Decimal, c.Thousands, c.Date = 0, "", "", ""
	}
	return Agreement{cfg, Common{meta.Task, meta.Features, meta.Shape, classes, meta.Outputs, columns, meta.Bounds, meta.TargetBounds, meta.Backbone}, seed[:]}
}

// Agreed returns what a party has to know of the agreement before it opens its own data.
func (a *Agreement) Agreed() run.Agreed {
	all := run.Agreed{Config: a.Config, CSV: a.reading(), Classes: a.Data.Classes}
	for i := range a.Data.Columns {
		all.Columns = append(all.Columns, a.Data.Columns[i].Name)
	}
	return all
}

// reading returns how a table is read to be as agreed: its label, what its columns are, and their bounds.
func (a *Agreement) reading() run.CSV {
	if len(a.Data.Columns) == 0 {
		return run.CSV{}
	}
	c := run.CSV{Columns: map[string]string{}, Bounds: map[string]run.Bounds{}}
	for i := range a.Data.Columns {
		col := &a.Data.Columns[i]
		kind := string(col.Kind)
		switch {
		case col.Kind == data.Label:
			c.Label = col.Name
		case col.Kind == data.Categorical && col.Buckets > 0:
			kind, c.Buckets = "bucketed", col.Buckets
		case col.Tokens > 0:
			c.MaxLength = col.Tokens
		}
		if col.Kind != data.Label {
			c.Columns[col.Name] = kind
		}
		if b := col.Bounds; b != nil && col.OfNumbers(a.Data.Task) {
			c.Bounds[col.Name] = run.Bounds{Lo: b.Lo, Hi: b.Hi}
		}
	}
	return c
}

// Hash names the agreement.
func (a *Agreement) Hash() ([32]byte, error) {
	b, err := a.encode()
	return sha256.Sum256(b), err
}

// encode returns the agreement's one form.
func (a *Agreement) encode() ([]byte, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("together: the agreement: %w", err)
	}
	return b, nil
}

// ReadAgreement reads an agreement that somebody else made: JSON, as it is written here. One on what each party decides
// alone, as its threads or its files, is refused.
func ReadAgreement(b []byte) (Agreement, error) {
	var a Agreement
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("together: the agreement: %w", err)
	}
	switch again, err := a.encode(); {
	case err != nil:
		return a, err
	case !bytes.Equal(again, b):
		return a, errors.New("together: the agreement is not written as this version writes it: parties have to use the same version of the page")
	case len(a.Seed) != 32:
		return a, fmt.Errorf("together: an agreement with a seed of %d bytes", len(a.Seed))
	case a.Config.Together.Parties < 2:
		return a, errors.New("together: an agreement of fewer than two parties")
	}
	of := &a.Data
	meta := data.Meta{Task: of.Task, Features: of.Features, Shape: of.Shape, Outputs: of.Outputs, Columns: of.Columns, Bounds: of.Bounds, TargetBounds: of.TargetBounds, Backbone: of.Backbone}
	common := NewAgreement(a.Config, meta, of.Classes, [32]byte(a.Seed))
	switch again, err := common.encode(); {
	case err != nil:
		return a, err
	case !bytes.Equal(again, b):
		return a, errors.New("together: the agreement has settings that each party chooses alone: ask who sent the link to open another room with this page")
	}
	return a, nil
}

// Differences lists where two agreements differ, but for their seeds.
func Differences(theirs, yours *Agreement) ([]run.Difference, error) {
	a, err := flat(theirs)
	if err != nil {
		return nil, err
	}
	b, err := flat(yours)
	if err != nil {
		return nil, err
	}
	paths := maps.Clone(a)
	maps.Copy(paths, b)
	var all []run.Difference
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if a[p] != b[p] {
			all = append(all, run.Difference{Path: p, Theirs: a[p], Yours: b[p]})
		}
	}
	return all, nil
}

// flat returns the values of an agreement by their paths.
func flat(a *Agreement) (map[string]string, error) {
	b, err := json.Marshal(Agreement{Config: a.Config, Data: a.Data})
	if err != nil {
		return nil, fmt.Errorf("together: the agreement: %w", err)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("together: the agreement: %w", err)
	}
	all := map[string]string{}
	walk(all, nil, v)
	return all, nil
}

func walk(all map[string]string, path []string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			walk(all, append(slices.Clip(path), k), x)
		}
	case []any:
		for i, x := range v {
			walk(all, append(slices.Clip(path), fmt.Sprint(i+1)), x)
		}
	default:
		b, _ := json.Marshal(v) // what was decoded can be encoded
		all[strings.Join(path, ".")] = string(b)
	}
}
