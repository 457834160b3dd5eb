package model

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// reading returns the options by which files are read for the model: pictures come to its shape.
// Older versions stretched them, and had no word for it.
func (p *Predictor) reading() run.CSV {
	opt := run.CSV{TestShare: -1, Image: run.Image{Transform: cmp.Or(p.file.Apply.Transform, run.TransformStretch)}}
	switch s := p.file.Apply.Shape; len(s) {
	case 2:
		opt.Image.Size, opt.Image.Channels = s, 1
	case 3:
		opt.Image.Size, opt.Image.Channels = s[1:], s[0]
	}
	return opt
}

// takesPictures reports whether files of pictures can be brought to the model's rows.
func (p *Predictor) takesPictures() bool {
	s := p.file.Apply.Shape
	return len(s) == 2 || len(s) == 3 && (s[0] == 1 || s[0] == 3)
}

// Picture brings a picture's file (PNG, JPEG) to the model's shape, as training did. A model that
// was trained on files of pictures sees it as it is. Others, of arrays, may have learned light
// on dark: of one plane, a picture with a light border is inverted for them. inverted decides it
// where it is not nil. The error is a [data.Error], or ctx's.
func (p *Predictor) Picture(ctx context.Context, f source.File, inverted *bool) (*run.Seen, error) {
	if !p.takesPictures() {
		return nil, p.noPictures(f.Name())
	}
	a := p.file.Apply
	pixels, light, err := p.Files.Picture(ctx, f, p.reading())
	if err != nil {
		return nil, err
	}
	const middle = 127
	seen := &run.Seen{Pixels: pixels, Inverted: a.Transform == "" && (len(a.Shape) == 2 || a.Shape[0] == 1) && light > middle}
	if inverted != nil {
		seen.Inverted = *inverted
	}
	if seen.Inverted {
		for i, v := range pixels {
			pixels[i] = 255 - v
		}
	}
	return seen, nil
}

func (p *Predictor) noPictures(file string) error {
	return &data.Error{File: file, Expected: "a table, or rows of numbers: this model was not trained on pictures", Got: "pictures",
		Fix: "Choose files of the kind that the model was trained on."}
}

// AnswerPictures reads files of pictures, as [Predictor.Picture] does, a folder or an archive of them
// among these, and writes a line for each to w, as CSV: picture, its path, answer, the probability of
// every class as p(class), and problem, which is empty or says why there is no answer. Pictures are
// those that training would read, in its order. progress may be nil. It holds a few thousand
// rows at a time.
//
// The error is a [data.Error], ctx's, or w's.
func (p *Predictor) AnswerPictures(ctx context.Context, files []source.File, w io.Writer, progress func(source.Progress)) (*run.PredictReply, error) {
	if len(files) == 0 {
		return nil, &data.Error{Expected: "pictures", Got: "none", Fix: "Choose pictures (PNG, JPEG), a folder of them or an archive."}
	}
	if !p.takesPictures() {
		return nil, p.noPictures(files[0].Name())
	}
	s := &sheet{p: p, w: csv.NewWriter(w), reply: &run.PredictReply{First: [][]string{}}}
	if _, err := io.WriteString(w, "\ufeff"); err != nil { // without its mark, spreadsheets take UTF-8 for something else
		return nil, fmt.Errorf("model: answers: %w", err)
	}
	s.nameOwn(func(name string) bool { return name == "picture" })
	s.writeNames([]string{"picture"})
	b := p.newBatch()
	warnings, err := p.Files.EachPicture(ctx, files, p.reading(), progress, func(path string, pixels []uint8, err error) error {
		if err == nil {
			x := b.next()
			for i, v := range pixels {
				x[i] = float32(v)
			}
		}
		b.addAnswer(rowTexts{}, run.Answer{}, err)
		s.rows, s.lines = append(s.rows, []string{data.Inert(path)}), append(s.lines, 0)
		if b.full() {
			return s.flush(ctx, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.reply.Warnings = warnings
	return s.reply, s.flush(ctx, b)
}
