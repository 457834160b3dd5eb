package together_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/core/together/room/roomtest"
	"clipscope/core/together/wire"
	"clipscope/core/train"
)

// share returns the i-th of k parts of a data set's rows.
func share(ds *data.Dataset, i, k int) *data.Dataset {
	p := *ds
	t := &p.Train
	lo, hi := t.N*i/k, t.N*(i+1)/k
	t.N = hi - lo
	t.Y = t.Y[lo*ds.TargetWidth() : hi*ds.TargetWidth()]
	if t.U8 != nil {
		t.U8 = t.U8[lo*ds.Features : hi*ds.Features]
	} else {
		t.F32 = t.F32[lo*ds.Features : hi*ds.Features]
	}
	return &p
}

// roomOf opens a room for a run of parties with such plans, and returns what has one of them enter, or come back to
// its seat.
func roomOf(t *testing.T, ds *data.Dataset, plans []*plan.Plan) func(i int, back *together.Seat) *together.Party {
	t.Helper()
	// Every party makes its agreement of its own plan: they are the same.
	agreement := func(i int) together.Agreement {
		terms := plans[i].Terms()
		return together.NewAgreement(terms.Config, terms.Meta, ds.Classes, [32]byte{5})
	}
	secret, err := together.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	first := agreement(0)
	sealed, err := together.SealAgreement(secret, &first)
	if err != nil {
		t.Fatal(err)
	}
	info, g := plans[0].Info(), plans[0].Terms().Config.Together
	words := info.Together.StepBytes / 4
	house := roomtest.NewHouse(t, wire.Terms{Parties: uint16(g.Parties), Quorum: uint16(g.Quorum), Words: uint32(words), Rounds: uint32(info.Steps), AnswerSeconds: 30}, sealed, time.Minute) // nobody is silent who could answer
	return func(i int, back *together.Seat) *together.Party {
		g := together.Guest{Secret: secret, Agreement: agreement(i), Name: fmt.Sprint("hospital ", i+1), Words: words, Steps: info.Steps}
		p, err := together.Enter(t.Context(), func(ctx context.Context) (together.Link, error) { return house.Dial(ctx) }, g, back)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// TestPartiesTrain: parties that meet in a room train digits as well as one that has all rows, and end with the
// same parameters and one log, also where some are gone for a while or for good.
func TestPartiesTrain(t *testing.T) {
	ds, err := builtin.Make("digits", 1)
	if err != nil {
		t.Fatal(err)
	}
	const parties, steps = 5, 40
	epsilon := 3.0
	cfg := run.Config{
		Method: "dc-e", Accountant: "rdp", Model: run.Model{Kind: "softmax"}, TargetEpsilon: &epsilon, Steps: steps, ExpectedBatchSize: 200, NumExamples: ds.Train.N,
		Together: run.Together{Parties: parties, Tolerance: 2},
	}
	alone := cfg
	alone.Together, alone.NoiseMode = run.Together{}, "secure"
	p, err := plan.New(alone, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	r, err := train.Start(t.Context(), p, ds, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	want := trained(t, t.Context(), r).TestAccuracy

	var plans []*plan.Plan
	for i := range parties {
		p, err := plan.New(cfg, share(ds, i, parties).Meta())
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	enter := roomOf(t, ds, plans)
	var all []*together.Party
	for i := range parties {
		all = append(all, enter(i, nil))
	}
	all[0].Start(t.Context())
	results := make([]run.Result, parties)
	var done sync.WaitGroup
	for i, party := range all {
		done.Go(func() {
			r := joined(t, plans[i], share(ds, i, parties), party)
			if r == nil {
				return
			}
			defer r.Close()
			for e, err := range r.Steps(t.Context()) {
				if err != nil {
					t.Errorf("party %d: %v", i+1, err)
					return
				}
				if i == 3 && e.Step == steps/2 {
					party.Leave(t.Context())
					return
				}
				if i == 4 && e.Step == steps/3 {
					c, err := r.Checkpoint(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					seat := party.Seat()
					party.Close()
					time.Sleep(300 * time.Millisecond) // the others go on
					party = enter(i, &seat)
					all[i] = party
					if r, err = train.Rejoin(t.Context(), plans[i], share(ds, i, parties), purego.New(), party, c); err != nil {
						t.Error(err)
						return
					}
					break
				}
			}
			results[i] = trained(t, t.Context(), r)
		})
	}
	done.Wait()
	if t.Failed() {
		return
	}
	for _, i := range []int{1, 2, 4} {
		if !slices.Equal(results[i].Released.Parameters, results[0].Released.Parameters) {
			t.Errorf("party %d ends with other parameters", i+1)
		}
		if all[i].Transcript() != all[0].Transcript() {
			t.Errorf("party %d has another log", i+1)
		}
	}
	got := results[0].TestAccuracy
	if got < want-0.05 || got < 0.7 {
		t.Errorf("together %.3f of the digits are right, alone %.3f", got, want)
	}
	t.Logf("together %.3f of the digits are right, alone %.3f", got, want)
}

// joined waits for the start with a party, and has it join the run on its rows; nil where that fails, which the test is told.
func joined(t *testing.T, p *plan.Plan, rows *data.Dataset, party *together.Party) *train.Run {
	t.Helper()
	if err := party.Wait(t.Context(), nil); err != nil {
		t.Error(err)
		return nil
	}
	r, err := train.Join(t.Context(), p, rows, purego.New(), party)
	if err != nil {
		t.Error(err)
		return nil
	}
	return r
}

func trained(t *testing.T, ctx context.Context, r *train.Run) run.Result {
	t.Helper()
	for _, err := range r.Steps(ctx) {
		if err != nil {
			t.Error(err)
			return run.Result{}
		}
	}
	o, err := r.Outcome(ctx)
	if err != nil {
		t.Error(err)
	}
	return o.Result
}
