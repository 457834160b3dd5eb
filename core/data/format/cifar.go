package format

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// The binary versions of CIFAR-10 and CIFAR-100: records of one label byte, or of a
// coarse and a fine one, and 3,072 pixel bytes, one colour plane of 32×32 after the
// other.
const cifarPixels = 3 * 32 * 32

var (
	cifar10Format = Format{
		Name: "cifar-10",
		Sniff: func(name string, head []byte, size int64) (bool, error) {
			return sniffCIFAR(name, head, size) == 10, nil
		},
		Load: func(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
			return loadCIFAR(in, cifar10(), train, test)
		},
	}
	cifar100Format = Format{
		Name: "cifar-100",
		Sniff: func(name string, head []byte, size int64) (bool, error) {
			return sniffCIFAR(name, head, size) == 100, nil
		},
		Load: func(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
			return loadCIFAR(in, cifar100(in.Options.Labels), train, test)
		},
	}
)

// cifarLists lists the files of classes' names that are published beside the records.
var cifarLists = []string{"batches.meta.txt", "coarse_label_names.txt", "fine_label_names.txt"}

// cifarKind describes a version of CIFAR: 10 or 100 classes.
type cifarKind struct {
	name   string
	labels []int // number of classes of each label byte of a record
	use    int   // index of the label that is read
}

func cifar10() cifarKind { return cifarKind{name: "CIFAR-10", labels: []int{10}} }

// cifar100 returns CIFAR-100 with the fine labels, or with the coarse ones.
func cifar100(which string) cifarKind {
	k := cifarKind{name: "CIFAR-100", labels: []int{20, 100}, use: 1}
	if which == table.CoarseLabels {
		k.use = 0
	}
	return k
}

// record returns the number of bytes of a record.
func (k cifarKind) record() int { return len(k.labels) + cifarPixels }

// classes returns the names of the classes, in the order of their numbers.
func (k cifarKind) classes() []string {
	switch k.labels[k.use] {
	case 10:
		return strings.Fields("airplane automobile bird cat deer dog frog horse ship truck")
	case 20:
		return strings.Fields(`aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices
			household_furniture insects large_carnivores large_man-made_outdoor_things large_natural_outdoor_scenes
			large_omnivores_and_herbivores medium_mammals non-insect_invertebrates people reptiles small_mammals trees
			vehicles_1 vehicles_2`)
	}
	return strings.Fields(`apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly
		camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur
		dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard
		lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear
		pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark
		shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone
		television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm`)
}

// fault returns the index of the first label of rec that is out of range; -1 if there is none.
func (k cifarKind) fault(rec []byte) int {
	for i, classes := range k.labels {
		if int(rec[i]) >= classes {
			return i
		}
	}
	return -1
}

// begins reports whether every record that begins in head begins with its labels.
func (k cifarKind) begins(head []byte) bool {
	if len(head) < k.record() {
		return false
	}
	for at := 0; at+len(k.labels) <= len(head); at += k.record() {
		if k.fault(head[at:]) >= 0 {
			return false
		}
	}
	return true
}

// sniffCIFAR returns 10 for a file of CIFAR-10, 100 for one of CIFAR-100, and 0 for neither. It goes by
// the labels at the beginning and, where those fit both, by the size; size is 0 where it is not known.
// Records whose first bytes are all 0 to 9 are CIFAR-10's: read as CIFAR-100's they would have labels
// among the pixels. Where no labels fit, the name decides.
func sniffCIFAR(name string, head []byte, size int64) int {
	ten, hundred := cifar10(), cifar100("")
	is10, is100 := ten.begins(head), hundred.begins(head)
	if is10 && is100 && size > 0 {
		is100 = size%int64(hundred.record()) == 0
		is10 = !is100 || size%int64(ten.record()) == 0
	}
	called := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(name), w) })
	}
	switch base := strings.TrimSuffix(strings.ToLower(name), ".gz"); {
	case foreign(head) != "" || slices.Contains([]string{".csv", ".tsv", ".tab"}, path.Ext(base)): // a table, it says
		return 0
	case is10:
		return 10
	case is100, called("cifar-100", "cifar100"):
		return 100
	case called("cifar", "_batch"):
		return 10
	}
	return 0
}

// pickledFolder returns the data set of whose Python version an archive's entry is; nil for none.
func pickledFolder(path string) *cifarKind {
	var k cifarKind
	switch folders := "/" + path; {
	case strings.Contains(folders, "/cifar-10-batches-py/"):
		k = cifar10()
	case strings.Contains(folders, "/cifar-100-python/"):
		k = cifar100("")
	default:
		return nil
	}
	return &k
}

// pickledCIFAR returns the data set of whose Python version a file is: a pickle with CIFAR's keys, or one
// that its name says to be. Nil is for none.
func pickledCIFAR(name string, head []byte) *cifarKind {
	if foreign(head) != pickle {
		return nil
	}
	name = strings.ToLower(name)
	called := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
	}
	var k cifarKind
	switch {
	case bytes.Contains(head, []byte("fine_label")), bytes.Contains(head, []byte("coarse_label")), called("cifar-100", "cifar100"):
		k = cifar100("")
	case bytes.Contains(head, []byte("batch_label")), bytes.Contains(head, []byte("num_cases_per_batch")), called("cifar", "data_batch", "test_batch", "batches.meta"):
		k = cifar10()
	case bytes.Contains(head[:min(len(head), 64)], []byte("filenames")): // the first key of CIFAR-100's
		k = cifar100("")
	default:
		return nil
	}
	return &k
}

// pickled returns the error of the data set's Python version.
func (k cifarKind) pickled(name string) error {
	return &data.Error{File: name, Expected: k.name + "'s binary version", Got: "its Python version, whose pickles are never unpacked",
		Fix: "Download the binary version, " + strings.ToLower(k.name) + "-binary.tar.gz, from https://www.cs.toronto.edu/~kriz/cifar.html and choose it as it is."}
}

func loadCIFAR(in *source.Reading, k cifarKind, train, test []source.File) (*data.Dataset, error) {
	if _, err := table.Choose(in.Options, in.Limits); err != nil {
		return nil, err
	}
	classes := k.classes()
	ds := &data.Dataset{Task: data.Classification, Features: cifarPixels, Shape: []int{3, 32, 32},
		Outputs: len(classes), Classes: classes, Bounds: data.ByteBounds(cifarPixels)}
	var err error
	if ds.Train, err = readCIFAR(in, k, train); err != nil {
		return nil, err
	}
	if first := ds.Train.Y[0]; data.AllEqual(ds.Train.Y) {
		return nil, data.OneClass(train[0].Name(), ds.Classes[int(first)])
	}
	if len(test) > 0 {
		ds.Test, err = readCIFAR(in, k, test)
	}
	return ds, err
}

// readCIFAR joins the records of files. It counts them first, as the size of a compressed file does
// not say how many it holds.
func readCIFAR(in *source.Reading, k cifarKind, files []source.File) (data.Split, error) {
	rows := make([]int64, len(files))
	total := int64(0)
	for i, f := range files {
		var err error
		if rows[i], err = countCIFAR(in, k, f); err != nil {
			return data.Split{}, err
		}
		total += rows[i]
	}
	sp := data.Split{N: int(total), U8: make([]uint8, total*cifarPixels), Y: make([]float32, total)}
	at := int64(0)
	for i, f := range files {
		n, err := eachCIFAR(in, k, f, source.PhaseRead, func(rec []byte) error {
			if at == total {
				return source.Changed(f.Name())
			}
			sp.Y[at] = float32(rec[k.use])
			copy(sp.U8[at*cifarPixels:], rec[len(k.labels):])
			at++
			return nil
		})
		if err != nil {
			return data.Split{}, err
		}
		if n != rows[i] {
			return data.Split{}, source.Changed(f.Name())
		}
	}
	return sp, nil
}

// countCIFAR returns the number of records of f, and claims the memory for them.
func countCIFAR(in *source.Reading, k cifarKind, f source.File) (int64, error) {
	const bytes = cifarPixels + source.RowOverhead
	s, err := in.Open(f, source.PhaseSniff)
	if err != nil {
		return 0, err
	}
	s.Close()
	if !s.Gzip {
		n := f.Size() / int64(k.record())
		return n, in.Claim(f.Name(), n, cifarPixels, bytes)
	}
	rows := int64(0)
	_, err = eachCIFAR(in, k, f, source.PhaseScan, func([]byte) error {
		rows++
		return in.Room(f.Name(), rows, cifarPixels, bytes)
	})
	if err != nil {
		return 0, err
	}
	return rows, in.Claim(f.Name(), rows, cifarPixels, bytes)
}

// eachCIFAR calls do with each record of f and returns how many there are.
func eachCIFAR(in *source.Reading, k cifarKind, f source.File, phase string, do func(rec []byte) error) (row int64, err error) {
	s, err := in.Open(f, phase)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	rec := make([]byte, k.record())
	for ; ; row++ {
		n, err := io.ReadFull(s, rec)
		at := row * int64(len(rec))
		switch {
		case err == io.EOF && row > 0:
			return row, nil
		case atEnd(err):
			return row, &data.Error{File: f.Name(), Byte: at + int64(n),
				Expected: fmt.Sprintf("%s records of %d bytes", k.name, len(rec)),
				Got:      fmt.Sprintf("the end of the file %d bytes into record %d", n, row+1),
				Fix:      "Download or copy the file again: it is cut short, or not " + k.name + "'s binary version."}
		case err != nil:
			return row, err
		}
		if i := k.fault(rec); i >= 0 {
			return row, &data.Error{File: f.Name(), Row: int(row) + 1, Byte: at + int64(i), Expected: fmt.Sprintf("a label from 0 to %d", k.labels[i]-1),
				Got: fmt.Sprintf("label %d, which is out of range", rec[i]),
				Fix: "Check that this is " + k.name + "'s binary version."}
		}
		if err := do(rec); err != nil {
			return row, err
		}
	}
}
