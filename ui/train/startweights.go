package train

import (
	"errors"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/cards"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Weigher is a client that reads the weights of saved models.
type Weigher interface {
	StartWeights(file app.Value, done func(run.StartInfo, error)) (cancel func())
}

// choice reads a file that was chosen, one at a time.
type choice struct {
	*env
	cards.Choice
	cancel func()
	tries  int
}

// read has a file read. take is called once it is, unless it is called off before.
func (c *choice) read(begin func(done func(error)) (cancel func()), take func()) {
	c.stop()
	c.Working, c.Fault = true, ""
	mine := c.tries
	c.changed()
	c.cancel = begin(func(err error) {
		if mine != c.tries {
			return
		}
		c.Working, c.cancel = false, nil
		if err == nil {
			take()
			return
		}
		if !errors.Is(err, client.ErrAborted) {
			c.Fault = err.Error()
		}
		c.changed()
	})
}

func (c *choice) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	c.tries++
	c.cancel, c.Working = nil, false
}

// startWeights is the saved model that runs start from.
type startWeights struct {
	choice
	client  Weigher
	exp     *experiment
	adopted func()          // the configuration has been changed
	info    *run.StartInfo  // of the file that was read last; nil: none was
	hubs    map[string]bool // checkpoints in several files, by the SHA-256 of these
}

// ChooseStart reads a saved model, and has runs start from it. The network becomes that of the file, where it states one.
func (s *startWeights) ChooseStart(file app.Value) {
	var got run.StartInfo
	s.read(func(done func(error)) func() {
		return s.client.StartWeights(file, func(info run.StartInfo, err error) { got = info; done(err) })
	}, func() { s.take(got, file != nil && file.Get("length").Truthy()) })
}

// take has runs start from weights. Those that the configuration names already keep their name, and what was declared of
// them. Of a checkpoint, which is large and knows no task, the last block and the head are trained.
func (s *startWeights) take(info run.StartInfo, checkpoint bool) {
	s.info = &info
	if checkpoint {
		if s.hubs == nil {
			s.hubs = map[string]bool{}
		}
		s.hubs[info.SHA256] = true
	}
	cfg := &s.exp.cfg
	if cfg.Start.SHA256 != info.SHA256 {
		cfg.Start = run.Start{File: info.File, SHA256: info.SHA256}
		if checkpoint {
			cfg.Start.Trainable = "last:1"
		}
		if info.Model.Kind != "" {
			cfg.Model = info.Model
			for _, f := range form.On(form.Model) {
				s.exp.forget(f.Key)
			}
		}
	}
	s.exp.remake()
	s.adopted()
}

// home returns forms of the model of a run that started from a checkpoint whose files were chosen here, each with its label.
func (s *startWeights) home(of *series.Record) [][2]string {
	if s == nil || of == nil || !s.hubs[of.Config.Start.SHA256] {
		return nil
	}
	forms := [][2]string{{"checkpoint", "Checkpoint, as it came"}}
	if _, ok := of.Config.Start.LowRank(); ok {
		forms = append(forms, [2]string{"peft", "PEFT adapter"})
	}
	return forms
}

// DropStart has runs start from random weights.
func (s *startWeights) DropStart() {
	s.stop()
	s.info, s.Fault = nil, ""
	s.exp.cfg.Start = run.Start{}
	for _, f := range form.On(form.Model) {
		if strings.HasPrefix(f.Key, "start.") {
			s.exp.forget(f.Key)
		}
	}
	s.exp.remake()
	s.adopted()
}

// forgetFault takes back what was said of a file, as other settings are in place.
func (s *startWeights) forgetFault() {
	if s != nil {
		s.Fault = ""
	}
}

// shown returns the card's view of the weights; an empty one where nothing reads saved models.
func (s *startWeights) shown() cards.StartView {
	if s == nil {
		return cards.StartView{}
	}
	return cards.StartView{Info: s.info, Choice: s.Choice}
}

// starter returns the receiver of the card's events; nil where the client reads no models.
func (s *startWeights) starter() cards.Starter {
	if s == nil {
		return nil
	}
	return s
}
