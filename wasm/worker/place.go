package worker

import (
	"context"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/run"
)

// worthTrying is the least time of a run for which a rival is tried: to ask for a GPU
// and to compile its kernels may take a second or two.
const worthTrying = 10 * time.Second

// chosen is an open back end, with the reason for the choice.
type chosen struct {
	Backend
	be   compute.Backend
	note string // of its opening
	why  string // reason for the choice
	// compared says that there was another to be had.
	compared bool
}

// choose opens the back end of a run: its own, or the rival of that, whichever takes a
// step of the plan in less time. It tells what takes long before it begins that. Where ctx is done meanwhile, it does
// not wait: a browser may open a GPU and compile for it as long as it likes.
func (p prepared) choose(ctx context.Context, tell func(run.Place)) (chosen, error) {
	type outcome struct {
		chosen
		err error
	}
	found := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { found <- o }()
		defer recovered(&o.err)
		o.chosen, o.err = p.fastest(ctx, tell)
	}()
	select {
	case o := <-found:
		if o.err != nil || ctx.Err() == nil {
			return o.chosen, o.err
		}
		o.be.Close()
		return chosen{}, ctx.Err()
	case <-ctx.Done():
		go func() { // what comes all the same is given back
			if o := <-found; o.err == nil {
				o.be.Close()
			}
		}()
		return chosen{}, ctx.Err()
	}
}

// meanwhile opens the back end that is there at once: what a run has done so far is worked out on it, where it is stopped
// before its own is there.
func (p prepared) meanwhile() (c chosen, err error) {
	c.Backend = p.on
	if p.on.Instead != nil {
		c.Backend = *p.on.Instead
	}
	if c.be, c.note, err = c.Open(); c.Name != p.on.Name {
		c.note = "The run was stopped before " + run.Place{Backend: p.on.Name}.String() + " was ready."
	}
	return c, err
}

func (p prepared) fastest(ctx context.Context, tell func(run.Place)) (chosen, error) {
	c := chosen{Backend: p.on}
	if c.Instead != nil {
		tell(run.Place{Backend: c.Name, Compiling: true})
	}
	var err error
	if c.be, c.note, err = c.Open(); err != nil {
		return c, err
	}
	if c.Instead != nil {
		// Its kernels are compiled when they are first called: before the first step, then.
		// What goes wrong here goes wrong there, and is seen to.
		p.plan.StepTime(ctx, c.be)
	}
	if c.Rival == nil {
		return c, nil
	}
	tell(run.Place{Backend: c.Name, Trying: true})
	if err := c.Rival.Find(); err != nil {
		c.why = fmt.Sprintf("%v was not tried: %v.", run.Place{Backend: c.Rival.Name}, err)
		return c, nil
	}
	own, err := p.plan.StepTime(ctx, c.be)
	if err != nil || own*time.Duration(p.plan.Info().Steps) < worthTrying {
		return c, nil // the run reports what keeps it from its steps
	}
	c.compared = true
	rival, other, err := try(ctx, p.plan, c.Rival)
	switch {
	case err != nil:
		c.why = fmt.Sprintf("%v takes %s a step; %v was not tried: %v.", placeOf(c.be), brisk(own), run.Place{Backend: c.Rival.Name}, err)
		return c, nil
	case other >= own:
		rival.be.Close()
		c.why = faster(c, own, rival, other)
		return c, nil
	}
	c.be.Close()
	rival.compared = true
	rival.why = faster(rival, other, c, own)
	return rival, nil
}

// try opens a back end and measures it.
func try(ctx context.Context, plan Planned, on *Backend) (c chosen, took time.Duration, err error) {
	c.Backend = *on
	if c.be, c.note, err = on.Open(); err != nil {
		return c, 0, err
	}
	if took, err = plan.StepTime(ctx, c.be); err != nil {
		c.be.Close()
	}
	return c, took, err
}

// faster writes that one takes less time for a step than the other.
func faster(one chosen, took time.Duration, other chosen, would time.Duration) string {
	return fmt.Sprintf("%v takes %s a step, %v would take %s.", placeOf(one.be), brisk(took), placeOf(other.be), brisk(would))
}

// brisk writes a duration in milliseconds, with digits that can be compared.
func brisk(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}

// place tells the page the back end of the run from now on, and which one it was to be.
func (r *running) place(be compute.Backend, why, asked string) {
	p := placeOf(be)
	p.Why = why
	if asked != p.Backend {
		p.Instead = asked
	}
	if c, ok := be.(compute.Compiler); ok {
		programs, took := c.Compiled()
		p.Programs, p.CompileSeconds = programs, run.Number(took.Seconds())
	}
	r.mail.send(PlaceType, r.id, p)
}

func placeOf(be compute.Backend) run.Place {
	return run.Place{Backend: be.Name(), Threads: compute.ThreadsOf(be), Device: compute.DeviceOf(be)}
}
