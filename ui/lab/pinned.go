package lab

import (
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
)

// pinned has what nobody set, and would follow from the budget or the threshold, stand as
// it does for cfg: runs that are made from it differ only in what is then set. What its
// data is, is asked once.
func (l *Lab) pinned(cfg run.Config, done func(run.Config, error)) {
	if f, known := l.facts[cfg.Data]; known {
		done(pin(cfg, f), nil)
		return
	}
	l.client.Ready(func(err error) {
		if err != nil {
			done(cfg, err)
			return
		}
		l.client.Open(cfg.Data, run.CSV{}, func(data.Progress) {}, func(o client.Opened, err error) {
			if o.Handle != nil {
				o.Handle.Close()
			}
			if err != nil {
				done(cfg, err)
				return
			}
			l.facts[cfg.Data] = o.Report.Facts()
			done(pin(cfg, l.facts[cfg.Data]), nil)
		})
	})
}

// pin sets what follows for cfg on data of such facts.
func pin(cfg run.Config, f run.Facts) run.Config {
	full := cfg.WithDefaultsFor(f)
	cfg.Model, cfg.Optimizer, cfg.LearningRate = full.Model, full.Optimizer, full.LearningRate
	cfg.ExpectedBatchSize, cfg.Epochs, cfg.Steps, cfg.MaxGradNorm = full.ExpectedBatchSize, full.Epochs, full.Steps, full.MaxGradNorm
	if cfg.TargetEpsilon == nil && cfg.NoiseMultiplier == nil && !cfg.NoPrivacy {
		cfg.TargetEpsilon = full.TargetEpsilon
	}
	return cfg
}
