package lab

import (
	"clipscope/core/run"
	"clipscope/ui/client"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// job is a run that waits for a core, is on one, or has been.
type job struct {
	config run.Config
	events func([]run.Event)
	done   func(*run.Result, error) // once, unless the pool is stopped

	runner client.Run
}

// pool runs jobs side by side, as many at a time as there are cores, each on one thread:
// several runs on one core each end sooner than one after the other on all.
type pool struct {
	client  Client
	width   int // 0: not known yet
	waiting []*job
	active  []*job
	life    int // counts stops: what a stopped run still says is ignored
}

// add has jobs run after those that wait.
func (p *pool) add(jobs ...*job) {
	p.waiting = append(p.waiting, jobs...)
	p.fill()
}

// busy reports whether anything runs or waits.
func (p *pool) busy() bool { return len(p.waiting)+len(p.active) > 0 }

// stop ends all that run and drops all that wait.
func (p *pool) stop() {
	p.life++
	for _, j := range p.active {
		if j.runner != nil {
			j.runner.Dispose()
		}
	}
	p.active, p.waiting = nil, nil
}

func (p *pool) fill() {
	if p.width == 0 {
		p.width = cores()
	}
	for len(p.active) < p.width && len(p.waiting) > 0 {
		j := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.active = append(p.active, j)
		p.start(j)
	}
}

func (p *pool) start(j *job) {
	life := p.life
	cfg := j.config
	cfg.Threads = 1
	p.client.Train(cfg, nil, false, func(r client.Run, err error) {
		switch {
		case life != p.life:
			if err == nil {
				r.Dispose()
			}
		case err != nil:
			p.end(j, nil, err)
		default:
			j.runner = r
			r.Watch(client.Listener{
				Events: func(events []run.Event) {
					if life == p.life {
						j.events(events)
					}
				},
				Place: func(run.Place) {},
				Trial: func(run.Trial) {},
				Done: func(res run.Result, err error) {
					if life != p.life {
						return
					}
					r.Dispose() // its worker goes with it
					if err != nil {
						p.end(j, nil, err)
						return
					}
					p.end(j, &res, nil)
				},
			})
		}
	})
}

func (p *pool) end(j *job, res *run.Result, err error) {
	for i, a := range p.active {
		if a == j {
			p.active = append(p.active[:i:i], p.active[i+1:]...)
			break
		}
	}
	j.done(res, err)
	p.fill()
}

// cores is how many runs go side by side: one for each core, and never none.
func cores() int {
	if !app.IsClient {
		return 2
	}
	return max(1, app.Window().Get("navigator").Get("hardwareConcurrency").Int())
}
