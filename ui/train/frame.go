package train

import (
	"encoding/json"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"
)

// Embedder is a client whose page may stand in the frame of another.
type Embedder interface {
	// Embed has ask answer that other page: why something is refused, or "". tell tells it
	// a body of a kind; it is nil where there is no such page.
	Embed(ask func(what, text string) (why string)) (tell func(kind string, body any))
}

// frame speaks with the page whose frame shows this one: it answers requests and reports runs. In
// no frame, its methods do nothing.
//
// Guarantee: what is told are values of the types below and no others. Of a run on a
// person's own files it is the steps and, where the run has a guarantee, ε; what such a
// run releases is not told either, as the page around may have chosen its ε. Of a run
// on built-in data, which is public, it is what noise covers as well. None of the types
// has diagnostics, parameters, scores or names.
type frame struct {
	*Controller
	tell       func(kind string, body any)
	shown      bool   // the page is: settings that nobody sees are not changed
	awaitsPlan bool   // for a plan that has not come yet
	run        *trial // the last that began here
}

// Outlook is the plan of a run on built-in data.
type Outlook struct {
	Steps           int        `json:"steps"`
	Private         bool       `json:"private"` // there is a guarantee
	Epsilon         run.Number `json:"epsilon"` // an upper bound
	Delta           float64    `json:"delta"`
	NoiseMultiplier run.Number `json:"noise_multiplier"`
}

// Standing is the state of a run.
type Standing struct {
	Phase   phase `json:"phase"`
	Step    int   `json:"step"`
	Steps   int   `json:"steps"`
	Stopped bool  `json:"stopped,omitempty"` // before its last step
	Private bool  `json:"private"`           // it has a guarantee
	// Epsilon is an upper bound: while the run goes on, of one planned to end with this
	// step, and at its end what it is charged. Nil without a guarantee.
	Epsilon  *run.Number `json:"epsilon,omitempty"`
	Released *Given      `json:"released,omitempty"` // by a run with noise, on built-in data
}

// Given holds the released values of a step.
type Given struct {
	MaxGradNorm  run.Number  `json:"max_grad_norm"`
	GradNorm     run.Number  `json:"noisy_grad_norm"`
	ClipFraction *run.Number `json:"noisy_clip_fraction,omitempty"`
}

// Trouble is the reason why something is refused, or was not done.
type Trouble struct {
	Why string `json:"why"`
}

// attach has the page around answered from now on.
func (f *frame) attach() {
	if e, ok := f.client.(Embedder); ok {
		f.tell = e.Embed(f.answer)
	}
}

// answer does what the page around asks: it is why that is refused, or "".
func (f *frame) answer(what, text string) (why string) {
	t := f.trials.last
	switch what {
	case "state":
		f.say("state", f.standing())
	case "config":
		return f.take(text)
	case "start":
		return f.start()
	case "pause":
		if t.phase != running {
			return "There is no run that goes on."
		}
		t.pause()
	case "resume":
		if t.phase != paused {
			return "There is no run that is paused."
		}
		f.trials.start()
	case "stop":
		if t.phase != running && t.phase != paused {
			return "There is no run to stop."
		}
		t.stop()
	default:
		return "There is no such message."
	}
	return ""
}

// take puts a configuration in place as a link does, but whole or not at all.
func (f *frame) take(text string) (why string) {
	switch {
	case !f.shown:
		return "The page for training is not shown."
	case f.trials.last.phase.active():
		return "A run is under way: stop it first, or wait."
	case f.files() != nil:
		return "There are files of the person's own."
	}
	var cfg run.Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err.Error()
	}
	if dropped := form.Understood(&cfg); len(dropped) > 0 {
		return "Not understood: " + strings.Join(dropped, ", ") + "."
	}
	if cfg.Data == form.Files {
		return "Only the person before the page chooses files."
	}
	f.awaitsPlan = true
	f.replace(cfg)
	f.address.write()
	return ""
}

// start starts what is in sight.
func (f *frame) start() (why string) {
	x := f.exp
	switch {
	case !f.shown:
		return "The page for training is not shown."
	case f.trials.last.phase.active():
		return "A run is under way."
	case f.data.lack() != "":
		return f.data.lack()
	case f.files() != nil:
		return "There are files of the person's own."
	case x.planning || x.asking:
		return "It is not known yet what these settings come to: wait for the message plan."
	case x.plan == nil || len(x.faults) > 0:
		return "These settings cannot run: the page says why."
	}
	f.trials.launch(false)
	return ""
}

func (f *frame) say(kind string, body any) {
	if f.tell != nil {
		f.tell(kind, body)
	}
}

// planned tells what settings for built-in data come to, or why they come to nothing.
func (f *frame) planned() {
	asked := f.awaitsPlan
	f.awaitsPlan = false
	switch p := f.exp.plan; {
	case f.data.name == form.Files || f.data.wanted == form.Files: // of whose faults nothing is told either
	case f.data.fault != "" && asked:
		f.say("refused", Trouble{f.data.fault})
	case p != nil:
		f.say("plan", Outlook{p.Steps, p.Private, p.Epsilon, p.Delta, run.Number(p.NoiseMultiplier)})
	case asked:
		var why []string
		for _, key := range form.Sorted(f.exp.refused) {
			why = append(why, key+": "+f.exp.refused[key])
		}
		f.say("refused", Trouble{strings.Join(why, " ")})
	}
}

// standing returns the state of the last run that began here. One that was kept is none of
// the page around's business.
func (f *frame) standing() Standing {
	t := f.run
	if t == nil || t.detached {
		return Standing{Phase: idle}
	}
	s := Standing{Phase: t.phase}
	if t.record == nil {
		return s
	}
	s.Step, s.Steps = t.steps()
	s.Private = t.record.Plan.Private
	s.Stopped = t.result != nil && t.result.Stopped
	released := t.record.Last.Released
	spent := released.Epsilon
	if t.result != nil {
		spent = t.result.Epsilon
	}
	if s.Private {
		s.Epsilon = &spent
	}
	// Without noise what is released elsewhere is a diagnostic.
	if !t.own && t.record.Plan.NoiseMultiplier > 0 && t.record.Len() > 0 {
		s.Released = &Given{run.Number(released.MaxGradNorm), released.GradNorm, released.ClipFraction}
	}
	return s
}

// progress tells how far a run is, and ended how it ended.
func (f *frame) progress(t *trial) {
	if t == f.run && t.record.Len() > 0 {
		f.say("progress", f.standing())
	}
}

func (f *frame) ended(t *trial) {
	switch {
	case t != f.run:
	case t.phase == done:
		f.say("done", f.standing())
	default:
		f.failed(t, t.fault)
	}
}

// unstarted tells that what was to begin did not.
func (f *frame) unstarted(t *trial, why string) {
	f.run = nil
	f.failed(t, why)
}

// failed says why where that can name nothing of a person's files.
func (f *frame) failed(t *trial, why string) {
	if t.own {
		why = "The run ended by an error, which the page shows."
	}
	f.say("failed", Trouble{why})
}
