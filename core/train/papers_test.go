package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// The tests of the files papers_*_test.go repeat the papers' experiments. They
// take minutes to an hour, so they run on request only ("make papers"), and
// print tables in Markdown: settings, every learning rate tried, seeds, and mean
// ± standard deviation beside the paper's figure.
//
// Settings are chosen on seeds 101 and on, and measured on seeds 1 and on, so
// that no figure profits from having been picked. All grids are in the code.

// request is the environment variable that asks for the papers' experiments.
const request = "CLIPSCOPE_PAPERS"

// papers skips the test unless the papers' experiments were asked for.
func papers(t *testing.T) {
	t.Helper()
	if os.Getenv(request) == "" {
		t.Skipf("an experiment of minutes, run on request: set %s=1, or “make papers”", request)
	}
}

// tuning and measuring are the seeds to choose settings by, and to report.
func tuning(n int) []uint64    { return from(101, n) }
func measuring(n int) []uint64 { return from(1, n) }

func from(first uint64, n int) []uint64 {
	s := make([]uint64, n)
	for i := range s {
		s[i] = first + uint64(i)
	}
	return s
}

// say prints a line of a table or of progress. With -v the test runner shows it
// at once.
func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// row prints a row of a Markdown table.
func row(cells ...any) {
	s := make([]string, len(cells))
	for i, c := range cells {
		s[i] = fmt.Sprint(c)
	}
	say("| %s |", strings.Join(s, " | "))
}

func header(cells ...any) {
	row(cells...)
	say("|%s", strings.Repeat(" --- |", len(cells)))
}

// table prints a Markdown table of lines below the cells of its header.
func table(lines [][]any, cells ...any) {
	header(cells...)
	for _, l := range lines {
		row(l...)
	}
}

// images loads one of the optional data sets of 28×28 images, or skips.
func images(t *testing.T, name string) *data.Dataset {
	t.Helper()
	return published(t, name, []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}, []string{"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"})
}

// published loads files for training and for testing from a folder of the published data, or skips.
func published(t *testing.T, folder string, train, test []string) *data.Dataset {
	t.Helper()
	root := os.Getenv("CLIPSCOPE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	files := func(names []string) (f []source.File) {
		for _, name := range names {
			path := filepath.Join(root, "data", folder, name)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("no %s: this experiment needs the published images", path)
			}
			f = append(f, traintest.Local(path))
		}
		return f
	}
	ds, _, err := load.Load(context.Background(), files(train), files(test), run.CSV{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// once runs cfg with a seed on the fastest backend.
func once(t *testing.T, cfg run.Config, ds *data.Dataset, seed uint64) outcome {
	t.Helper()
	cfg.Seed = &seed
	return outcomeOf(t, func() compute.Backend { return computetest.Fast(t) }, cfg, ds)
}

// scores are the test accuracies in per cent, one for each seed.
func scores(t *testing.T, cfg run.Config, ds *data.Dataset, seeds []uint64) sample {
	t.Helper()
	var s sample
	for _, seed := range seeds {
		s = append(s, 100*float64(once(t, cfg, ds, seed).test.Accuracy))
	}
	return s
}

// choice is a point of a grid: the configuration and what a table calls it.
type choice struct {
	label string
	cfg   run.Config
}

// tried is a choice with its mean accuracy over the tuning seeds.
type tried struct {
	choice
	mean float64
}

// try measures every point of a grid and prints what it reached.
func try(t *testing.T, what string, ds *data.Dataset, grid []choice, seeds []uint64) []tried {
	t.Helper()
	began := time.Now()
	var all []tried
	line := ""
	for _, c := range grid {
		all = append(all, tried{c, scores(t, c.cfg, ds, seeds).mean()})
		line += fmt.Sprintf("; %s: %.2f", c.label, all[len(all)-1].mean)
	}
	say("- %s, seeds %v, %.0f s%s", what, seeds, time.Since(began).Seconds(), line)
	return all
}

// best is the point with the highest accuracy; one at the border of its grid
// deserves suspicion.
func best(all []tried) choice {
	return slices.MaxFunc(all, func(a, b tried) int { return cmp.Compare(a.mean, b.mean) }).choice
}

// sample is a few measurements of one thing.
type sample []float64

func (s sample) mean() float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

// sd is the standard deviation that the sample estimates; 0 for fewer than two.
func (s sample) sd() float64 {
	if len(s) < 2 {
		return 0
	}
	m, sum := s.mean(), 0.0
	for _, v := range s {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(s)-1))
}

func (s sample) min() float64 {
	m := math.Inf(1)
	for _, v := range s {
		m = min(m, v)
	}
	return m
}

func (s sample) String() string { return fmt.Sprintf("%.2f ± %.2f", s.mean(), s.sd()) }

// perceptron is the setting of VC §6 and DC on MNIST: an MLP 784-128-10, batches
// of 128 and σ = 1.
func perceptron(method string, c, epochs float64) run.Config {
	return run.Config{
		Method: method, Model: run.Model{Kind: "mlp", Hidden: []int{128}}, Accountant: "rdp", NoiseMultiplier: ptr(1.0),
		MaxGradNorm: c, ExpectedBatchSize: 128, Epochs: epochs,
	}
}

// with returns a copy of cfg after edit, its parameters copied too.
func with(cfg run.Config, edit func(*run.Config)) run.Config {
	params := make(map[string]float64, len(cfg.Params)+2)
	for k, v := range cfg.Params {
		params[k] = v
	}
	cfg.Params = params
	edit(&cfg)
	return cfg
}

// rates is a grid of learning rates for one configuration.
func rates(label string, cfg run.Config, rates ...float64) (grid []choice) {
	for _, lr := range rates {
		grid = append(grid, choice{strings.TrimSpace(fmt.Sprintf("%s η=%g", label, lr)), with(cfg, func(c *run.Config) { c.LearningRate = lr })})
	}
	return grid
}
