package lesson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"clipscope/core/run"
)

// Figure is a figure or table of one of the papers, as an experiment to run again in
// small.
type Figure struct {
	ID     string `json:"id"`
	Paper  string `json:"paper"`  // VC, DC, AC or PS
	Figure string `json:"figure"` // as the paper numbers it
	Claim  string `json:"claim"`  // what the paper says with it
	Show   Part   `json:"show"`
	// Base is the experiment, and Lanes what its runs have for themselves; there are none
	// where the figure is about one step.
	Base  run.Config `json:"base"`
	Lanes []Lane     `json:"lanes"`
	// Full is what the base has for the paper's own data, which the visitor brings; nil
	// where these are built in, or are not the pictures of MNIST and Fashion-MNIST.
	Full map[string]any `json:"full"`
	// Grids are tables of more runs than lanes can show: what was stored of them is shown.
	Grids []Grid `json:"grids"`
	// Watch is what the figure is about: accuracy, loss, clip_fraction, max_grad_norm,
	// seconds, error, cosine, u or plane.
	Watch   string `json:"watch"`
	Differs string `json:"differs"` // our result beside the claim, and where the experiment is not the paper's
	Stored  Stored `json:"-"`
}

// Grid is a table of runs that differ in two fields: the test accuracy by row and column, as a
// heat map.
type Grid struct {
	Label   string         `json:"label"`
	Set     map[string]any `json:"set"` // what all its runs have
	Rows    Axis           `json:"rows"`
	Columns Axis           `json:"columns"`
	// Stored holds the test accuracies when they were last made, by row and column.
	Stored [][]float64 `json:"-"`
}

// Axis lists the values that a field takes along one side of a grid.
type Axis struct {
	Field  string    `json:"field"`
	Label  string    `json:"label"`
	Values []float64 `json:"values"`
}

// Lane is a run among others.
type Lane struct {
	Label string         `json:"label"`
	Set   map[string]any `json:"set"`
}

// Stored holds the results of a figure's runs when they were last made, in the order of its
// lanes.
type Stored []Outcome

// Outcome is the result of one run.
type Outcome struct {
	Label    string     `json:"label"`
	Accuracy run.Number `json:"test_accuracy"`
	Loss     run.Number `json:"test_loss"`
	// Clipped is the share of gradients that were, in the first and in the last tenth of
	// the steps, and MaxGradNorm the threshold of the last step.
	Clipped     [2]run.Number `json:"clip_fraction"`
	MaxGradNorm run.Number    `json:"max_grad_norm"`
	// Error is the mean expected squared distance of the released mean gradient from the
	// true one, which clipping and noise share, and Cosine the mean cosine of the clipped mean
	// gradient with the true one, where these were measured.
	Error  run.Number `json:"squared_error"`
	Cosine run.Number `json:"cosine"`
	// Time is that of a step, in parts of the first run's.
	Time run.Number `json:"relative_step_time"`
}

// ReadFigures reads figures, and what was stored of them by their ids.
func ReadFigures(figures, stored []byte) ([]Figure, error) {
	var list []Figure
	if err := json.Unmarshal(figures, &list); err != nil {
		return nil, fmt.Errorf("lesson: figures: %w", err)
	}
	var of struct {
		Figures map[string]Stored        `json:"figures"`
		Grids   map[string][][][]float64 `json:"grids"`
	}
	if err := json.Unmarshal(stored, &of); err != nil {
		return nil, fmt.Errorf("lesson: stored figures: %w", err)
	}
	for i := range list {
		f := &list[i]
		if err := f.checkRuns(); err != nil {
			return nil, fmt.Errorf("lesson: figure %q: %w", f.ID, err)
		}
		f.Stored = of.Figures[f.ID]
		for j, accuracies := range of.Grids[f.ID][:min(len(f.Grids), len(of.Grids[f.ID]))] {
			f.Grids[j].Stored = accuracies
		}
	}
	return list, nil
}

// MostLanes limits the runs that are shown side by side: more cannot be told apart.
const MostLanes = 6

var watched = []string{"accuracy", "loss", "clip_fraction", "max_grad_norm", "seconds", "error", "cosine", "u", "plane"}

func (f *Figure) checkRuns() error {
	switch {
	case f.ID == "" || f.Paper == "" || f.Figure == "" || f.Claim == "" || f.Differs == "":
		return errors.New("an id, a paper, a figure, its claim and what differs are needed")
	case !slices.Contains(watched, f.Watch):
		return fmt.Errorf("%q cannot be watched", f.Watch)
	case (f.Show == Lanes) != (len(f.Lanes) > 0) || len(f.Lanes) > MostLanes:
		return fmt.Errorf("%d lanes are shown as %q", len(f.Lanes), f.Show)
	}
	if _, err := f.Configs(); err != nil {
		return err
	}
	for i := range f.Grids {
		if _, err := f.Grids[i].Configs(f.Base); err != nil {
			return err
		}
	}
	_, err := f.FullConfigs()
	return err
}

// Configs are the configurations of the lanes, or that of the base where there are none.
func (f *Figure) Configs() ([]run.Config, error) {
	if len(f.Lanes) == 0 {
		return []run.Config{f.Base}, nil
	}
	return f.withLanes(f.Base)
}

// Configs returns the configurations of a grid's runs on a figure's base, row by row.
func (g *Grid) Configs(base run.Config) ([]run.Config, error) {
	var all []run.Config
	for _, row := range g.Rows.Values {
		for _, column := range g.Columns.Values {
			set := map[string]any{g.Rows.Field: row, g.Columns.Field: column}
			for key, v := range g.Set {
				set[key] = v
			}
			c, err := base.With(set)
			if err != nil {
				return nil, fmt.Errorf("%s, %v × %v: %w", g.Label, row, column, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// FullConfigs returns the configurations of the lanes on the paper's own data; nil where Full is.
func (f *Figure) FullConfigs() ([]run.Config, error) {
	if f.Full == nil {
		return nil, nil
	}
	base, err := f.Base.With(f.Full)
	if err != nil {
		return nil, fmt.Errorf("in full: %w", err)
	}
	return f.withLanes(base)
}

func (f *Figure) withLanes(base run.Config) ([]run.Config, error) {
	all := make([]run.Config, len(f.Lanes))
	for i, l := range f.Lanes {
		c, err := base.With(l.Set)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Label, err)
		}
		all[i] = c
	}
	return all, nil
}
