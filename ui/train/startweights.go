package train

import (
	"errors"

	"clipscope/core/run"
	"clipscope/ui/cards"
	"clipscope/ui/client"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Weigher is a client that reads the weights of saved models.
type Weigher interface {
	StartWeights(file app.Value, done func(run.StartInfo, error)) (cancel func())
}

// startWeights is the saved model that runs start from.
type startWeights struct {
	*env
	client  Weigher
	exp     *experiment
	adopted func() // the configuration has been changed
	view    cards.StartView
	cancel  func()
	tries   int
}

// ChooseStart reads a saved model, and has runs start from it. The network becomes that of the file, where it states one.
func (s *startWeights) ChooseStart(file app.Value) {
	s.stop()
	s.view.Working, s.view.Fault = true, ""
	mine := s.tries
	s.changed()
	s.cancel = s.client.StartWeights(file, func(info run.StartInfo, err error) {
		if mine != s.tries {
			return
		}
		s.view.Working, s.cancel = false, nil
		if err != nil {
			if !errors.Is(err, client.ErrAborted) {
				s.view.Fault = err.Error()
			}
			s.changed()
			return
		}
		s.take(info)
	})
}

// take has runs start from weights. Those that the configuration names already keep their name, and what was declared of them.
func (s *startWeights) take(info run.StartInfo) {
	s.view.Info = &info
	cfg := &s.exp.cfg
	if cfg.Start.SHA256 != info.SHA256 {
		cfg.Start = run.Start{File: info.File, SHA256: info.SHA256}
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

// DropStart has runs start from random weights.
func (s *startWeights) DropStart() {
	s.stop()
	s.view = cards.StartView{}
	s.exp.cfg.Start = run.Start{}
	s.exp.forget("start.public")
	s.exp.remake()
	s.adopted()
}

// forgetFault takes back what was said of a file, as other settings are in place.
func (s *startWeights) forgetFault() {
	if s != nil {
		s.view.Fault = ""
	}
}

func (s *startWeights) stop() {
	if s.cancel != nil {
		s.cancel()
	}
	s.tries++
	s.cancel, s.view.Working = nil, false
}

// shown returns the card's view of the weights; an empty one where nothing reads saved models.
func (s *startWeights) shown() cards.StartView {
	if s == nil {
		return cards.StartView{}
	}
	return s.view
}

// starter returns the receiver of the card's events; nil where the client reads no models.
func (s *startWeights) starter() cards.Starter {
	if s == nil {
		return nil
	}
	return s
}
