package load

import (
	"context"
	"fmt"

	"clipscope/core/data"
	"clipscope/core/data/format"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// EachPicture calls do with each picture among files, a folder or an archive of them among these, brought
// to the form that opt.Image says. Hidden folders and files are left out as [Load] leaves them out,
// and pictures come in its order. warnings say what was left out. See [format.EachPicture].
func (how Loader) EachPicture(ctx context.Context, files []source.File, opt run.CSV, progress func(source.Progress), do func(path string, pixels []uint8, err error) error) (warnings []string, err error) {
	in := how.reading(ctx, opt, progress)
	defer in.Close()
	files = source.Gather(files)
	in.Allow(files...)
	var pictures []source.File
	err = func() error {
		var of kinds
		for _, f := range files {
			found, err := sniff(in, f, of.add)
			if err != nil {
				return err
			}
			pictures = append(pictures, found...)
		}
		if of.kind == nil || of.kind.Name != format.Pictures {
			e := &data.Error{Expected: "pictures (PNG, JPEG), a folder of them or an archive", Got: "none", Fix: "Choose pictures. Arrays with their labels are compared with the answers, but not answered alone."}
			if of.kind != nil {
				e.File, e.Got = of.first.Name(), fmt.Sprintf("a %s file", of.kind.Name)
			}
			return e
		}
		return format.EachPicture(in, pictures, do)
	}()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("data: pictures: %w", ctx.Err())
	}
	warnings, _ = in.Warnings()
	return warnings, err
}

// Picture brings one picture to the form that opt.Image says: pixels, one plane of colour after the
// other. light is the mean of those at the border of the first plane.
func (how Loader) Picture(ctx context.Context, f source.File, opt run.CSV) (pixels []uint8, light float64, err error) {
	in := how.reading(ctx, opt, nil)
	defer in.Close()
	in.Allow(f)
	return format.PictureOf(in, f)
}
