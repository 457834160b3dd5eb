package cards

import (
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/preset"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories are the cards, each alone.
func Stories() []widget.Story {
	return []widget.Story{
		{Name: "Data card, a table", View: func() app.UI {
			return &Data{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport()}, Loader: nobody{}, Shows: nobody{}}
		}},
		{Name: "Data card, reading", View: func() app.UI {
			return &Data{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport(), Loading: true, Slow: true, Progress: source.Progress{File: "big.csv", Done: 63e6, Total: 200e6}, Share: 0.66}, Loader: nobody{}, Shows: nobody{}}
		}},
		{Name: "Data card, a bad file", View: func() app.UI {
			return &Data{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport(), Fault: "iris.csv, row 17, column 3 (\"petal_length\"): expected a number, found \"n/a?\". Correct the cell, or make the column categorical."}, Loader: nobody{}, Shows: nobody{}}
		}},
		{Name: "Data card, a file that is looked at", View: func() app.UI {
			return &Data{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Looking: true, Fault: "run.json: expected a table, found a JSON file. Choose another file, or save the data as one of these."}, Loader: nobody{}, Shows: nobody{}}
		}},
		{Name: "Data card, a backbone at work", View: func() app.UI {
			return &Data{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport(), Backbone: exampleBackbone()}, Loader: nobody{}, Features: nobody{}, Shows: nobody{}}
		}},
		{Name: "A table as it is read", View: func() app.UI {
			return &Preview{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport()}, Shows: nobody{}}
		}},
		{Name: "Model card", View: func() app.UI { return &Model{Form: exampleForm(form.Model), Plan: examplePlan()} }},
		{Name: "Model card, started from a saved model", View: func() app.UI {
			f := exampleForm(form.Model)
			f.Full.Start = run.Start{File: "model-digits.zip", SHA256: strings.Repeat("c0ffee", 11)[:64]}
			return &Model{Form: f, Plan: examplePlan(), Start: StartView{Info: &run.StartInfo{SHA256: f.Full.Start.SHA256, Parameters: 7850, Private: true, Epsilon: 2}}, Starter: nobody{}, Mixer: nobody{}}
		}},
		{Name: "Model card, a list of layers that does not fit", View: func() app.UI { return &Model{Form: layersForm(), Plan: layersPlan()} }},
		{Name: "Clipping card", View: func() app.UI { return &Clipping{Form: exampleForm(form.Clipping)} }},
		{Name: "Privacy card, with a fault", View: func() app.UI { return &Privacy{Form: exampleForm(form.Privacy), Plan: examplePlan()} }},
		{Name: "Optimiser card", View: func() app.UI { return &Optimiser{Form: exampleForm(form.Optimiser)} }},
	}
}

// nobody takes the events of stories.
type nobody struct{}

func (nobody) Set(string, string)     {}
func (nobody) Settle(string)          {}
func (nobody) Open(form.Card)         {}
func (nobody) OpenFiles(app.Value)    {}
func (nobody) CancelOpen()            {}
func (nobody) StopLooking()           {}
func (nobody) TakeSaved()             {}
func (nobody) UseSaved()              {}
func (nobody) StartSaved()            {}
func (nobody) ChooseStart(app.Value)  {}
func (nobody) DropStart()             {}
func (nobody) ChoosePublic(app.Value) {}
func (nobody) DropPublic()            {}
func (nobody) CheckSaved()            {}
func (nobody) ReadAsNew()             {}
func (nobody) ShowTable(bool)         {}

func (nobody) ChooseBackbone(app.Value)   {}
func (nobody) SetBackbone(string, string) {}
func (nobody) MakeFeatures()              {}
func (nobody) StopBackbone()              {}
func (nobody) DropFeatures()              {}

func exampleBackbone() BackboneView {
	return BackboneView{
		File: "simclr.onnx", Picture: true, Working: true, Seconds: 12, Progress: source.Progress{Phase: "features", Done: 9000, Total: 60000},
		Info: &run.BackboneInfo{Bytes: 94e6, Inputs: []run.BackboneTensor{{Name: "x", Type: "float32", Shape: []int{-1, 3, 224, 224}}},
			Outputs: []run.BackboneTensor{{Name: "features", Type: "float32", Shape: []int{-1, 2048}}, {Name: "maps", Type: "float32", Shape: []int{-1, 2048, 7, 7}}}},
		Request: run.BackboneRequest{Output: "features", Normalise: "imagenet", Resize: "bilinear"},
		Used:    &data.Backboned{Backbone: run.Backbone{SHA256: "0123456789abcdef", Output: "features", Normalise: "imagenet", Batch: 1}, File: "simclr.onnx", Seconds: 61, Memory: 400e6},
	}
}

func exampleForm(card form.Card) *widget.Form {
	cfg := preset.First()
	f := &widget.Form{Config: cfg, Full: cfg.WithDefaults(), Drafts: map[string]string{}, Faults: map[string]string{}, Warnings: map[string]string{},
		Opened: card, Editor: nobody{}}
	if card == form.Privacy {
		f.Drafts["target_delta"] = "1e-"
		f.Faults["target_delta"] = "“1e-” is not a number; write for example 0.1 or 1e-5"
		f.Warnings["target_epsilon"] = "ε = 12.0 is a weak promise."
	}
	return f
}

func examplePlan() *run.PlanInfo {
	return &run.PlanInfo{NoiseMultiplier: 1.132, SampleRate: 256.0 / 6000, Steps: 938, Epsilon: 2, Delta: 1e-5, Private: true, Parameters: 101770, MemoryBytes: 14e6}
}

func layersForm() *widget.Form {
	f := exampleForm(form.Model)
	f.Config.Model = run.Model{Layers: []string{"conv:16:8:s2:p3", "relu", "conv:16:15", "dense"}}
	f.Full = f.Config.WithDefaults()
	f.Faults["model.layers"] = "layer 3, conv:16:15: the kernel is 15×15, its input only 14×14"
	return f
}

func layersPlan() *run.PlanInfo {
	p := examplePlan()
	p.PhysicalBatch = 353
	p.Layers = []run.Layer{
		{Text: "conv:16:8:s2:p3", Shape: []int{14, 14, 16}, Parameters: 1040, Products: 200704, Bytes: 19840},
		{Text: "relu", Shape: []int{14, 14, 16}, Bytes: 25088}, {Text: "dense", Shape: []int{10}, Parameters: 31370, Products: 31360, Bytes: 12664},
	}
	return p
}

func exampleReport() *data.Report {
	return &data.Report{Name: "iris.csv", Format: "csv", Task: data.Classification, Rows: 120, TestRows: 30, Features: 4, Outputs: 3,
		Classes: []string{"setosa", "versicolor", "virginica"}, Label: "species",
		Columns: []data.Column{
			{Name: "sepal_length", Kind: data.Numeric}, {Name: "sepal_width", Kind: data.Numeric, Missing: 2},
			{Name: "colour", Kind: data.Categorical}, {Name: "id", Kind: data.Ignored}, {Name: "species", Kind: data.Label},
		},
		Encoding: "windows-1252", Delimiter: ";", Header: true, Files: []data.FileRole{{Name: "iris.csv", Role: "train"}, {Name: "iris.test", Role: "test"}},
		Preview: data.Preview{
			Rows:      [][]string{{"1.005,1", "3,5", "blue", "1", "setosa"}, {"4,9", "NA", "white", "2", "virginica"}},
			Values:    [][]string{{"1005.1", "3.5", "blue", "", "setosa"}, {"4.9", data.MissingCategory, "white", "", "virginica"}},
			Numbers:   []int{2, 3},
			ClassRows: []int{38, 41, 41},
			Last:      [][]string{{"5,1", "3,0", "blue", "150", "setosa"}}, LastValues: [][]string{{"5.1", "3", "blue", "", "setosa"}}, LastNumbers: []int{151}, Of: 150,
		},
		Warnings: []string{"No test file: 30 of 150 rows, chosen by a fixed shuffle, are held out for testing."}}
}
