package format

import (
	"errors"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// EachPicture brings each picture among files to the size, the channels and by the transform of the reading's
// options, and calls do with its path and its pixels, one plane of colour after the other, or with the error
// that tells why it cannot be read. The pixels are valid until do returns. Pictures are those that training reads,
// in its order; what they show need not be known. It ends with the first error of do, and with that of a limit
// of all pictures.
func EachPicture(in *source.Reading, files []source.File, do func(path string, pixels []uint8, err error) error) error {
	all, _, err := listPictures(in, files, nil)
	if err != nil {
		return err
	}
	g, err := galleryOf(in)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return &data.Error{File: files[0].Name(), Expected: "pictures", Got: "none", Fix: "Choose pictures (PNG, JPEG), a folder of them or an archive."}
	}
	pixels := make([]uint8, g.values())
	for i := range all {
		p := &all[i]
		if file := files[p.from]; g.meter == nil || file != g.meter.File {
			g.meter = in.Meter(nil, file, source.PhaseRead)
		}
		if err := g.meter.Check(false); err != nil {
			return err
		}
		err := g.picture(pixels, *p)
		if err != nil && (!errors.As(err, new(*data.Error)) || errors.Is(err, source.ErrTooMuch)) {
			return err
		}
		if err := do(p.path, pixels, err); err != nil {
			return err
		}
		g.meter.Done += source.Stored(p.File)
	}
	return g.meter.Check(true)
}

// PictureOf brings one picture to a form as EachPicture does. light is the mean of the pixels at the border
// of the first plane.
func PictureOf(in *source.Reading, f source.File) (pixels []uint8, light float64, err error) {
	g, err := galleryOf(in)
	if err != nil {
		return nil, 0, err
	}
	g.meter = in.Meter(nil, f, source.PhaseRead)
	pixels = make([]uint8, g.values())
	if err := g.picture(pixels, picture{File: f, path: f.Name()}); err != nil {
		return nil, 0, err
	}
	return pixels, lightOf(pixels, g.frame), nil
}

// galleryOf returns a gallery of pictures of the size, and the channels, of the reading's options.
func galleryOf(in *source.Reading) (*gallery, error) {
	g := newGallery(in, nil)
	return g, g.settle("")
}

// picture reads one picture.
func (g *gallery) picture(dst []uint8, p picture) error {
	raw, err := g.read(p)
	if err != nil {
		return err
	}
	d, err := newPictureDecoder(p.Name(), raw, &g.Limits)
	if err != nil {
		return err
	}
	return g.draw(dst, p.Name(), raw, d)
}

// lightOf returns the mean of the pixels at the border of the first plane.
func lightOf(pixels []uint8, f frame) float64 {
	sum, n := 0, 0
	for y := range f.height {
		for x := range f.width {
			if x == 0 || y == 0 || x == f.width-1 || y == f.height-1 {
				sum += int(pixels[y*f.width+x])
				n++
			}
		}
	}
	return float64(sum) / float64(n)
}
