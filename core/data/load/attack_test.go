package load_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"runtime"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// overlapping are many entries of a zip archive that all have the same bytes, once in the archive.
func overlapping(entries int, content []byte) []byte {
	packed := new(bytes.Buffer)
	w := zip.NewWriter(packed)
	f, _ := w.Create("0.csv")
	f.Write(content)
	w.Close()
	b := packed.Bytes()
	directory := bytes.Index(b, []byte("PK\x01\x02"))
	end := bytes.Index(b, []byte("PK\x05\x06"))
	one := b[directory:end]
	out := append([]byte{}, b[:directory]...)
	for i := range entries {
		record := append([]byte{}, one...)
		copy(record[46:], fmt.Sprintf("%05d", i)[:5]) // its name
		out = append(out, record...)
	}
	tail := append([]byte{}, b[end:]...)
	binary.LittleEndian.PutUint16(tail[8:], uint16(entries))
	binary.LittleEndian.PutUint16(tail[10:], uint16(entries))
	binary.LittleEndian.PutUint32(tail[12:], uint32(entries*len(one)))
	return append(out, tail...)
}

// understated is an archive with one entry that says of itself that it has 10 bytes.
func understated(content []byte) []byte {
	b := datatest.Zip("0.csv", content)
	binary.LittleEndian.PutUint32(b[bytes.Index(b, []byte("PK\x01\x02"))+24:], 10)
	return b
}

// endless reads as the same bytes again and again.
type endless struct {
	head, part []byte
	at         int
}

func (e *endless) Read(p []byte) (n int, err error) {
	if len(e.head) > 0 {
		n = copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	for n < len(p) {
		m := copy(p[n:], e.part[e.at:])
		n, e.at = n+m, (e.at+m)%len(e.part)
	}
	return n, nil
}

func (e *endless) Close() error { return nil }

// endlessColumns is a file of columns that says everything again and again.
type endlessColumns struct {
	head, part []byte
	pictures   bool
}

func (c endlessColumns) Pictures() bool    { return c.pictures }
func (c endlessColumns) Rows() int64       { return 40_000 }
func (c endlessColumns) Classes() []string { return []string{"a", "b"} }
func (c endlessColumns) Skipped() []string { return nil }
func (c endlessColumns) Text(int) bool     { return false }
func (c endlessColumns) Open() (io.ReadCloser, error) {
	return &endless{head: c.head, part: c.part}, nil
}

// framed are pictures in the form of [Columns], one of each class.
func framed(raw []byte) (b []byte) {
	for _, class := range []string{"a", "b"} {
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(append(b, class...), uint32(len(raw)))
		b = append(b, raw...)
	}
	return b
}

// attacks are files of a few kilobytes, most of them, that ask for hours or for all memory.
func attacks() map[string]struct {
	files   []source.File
	columns source.Columns
	want    string
} {
	type attack = struct {
		files   []source.File
		columns source.Columns
		want    string
	}
	const mb = 1 << 20
	x := func(n int) string { return strings.Repeat("x", n) }
	sst := func(texts ...string) string {
		return "<sst><si><t>" + strings.Join(texts, "</t></si><si><t>") + "</t></si></sst>"
	}
	xlsx := func(rows string, parts ...string) []source.File {
		return []source.File{source.Bytes("b.xlsx", datatest.Book(append([]string{"S", rows}, parts...)...))}
	}
	g, h := datatest.Grey(9, 9, 3), datatest.Grey(9, 9, 200)
	beside := func(table string) []source.File {
		return []source.File{source.Bytes("a.zip", datatest.Zip("a/1.png", g, "b/2.png", h, "a/3.png", g, "labels.csv", table))}
	}
	parquet := []source.File{source.Bytes("t.parquet", append([]byte("PAR1"), bytes.Repeat([]byte{0, 1, 2, 3}, 43_000/4)...))}
	csv := func(s string) []source.File {
		return []source.File{source.Bytes("t.csv.gz", datatest.GzipOf([]byte(s)))}
	}
	zipped := func(name, s string) []source.File { return []source.File{source.Bytes("t.zip", datatest.Zip(name, s))} }
	shared := `<c t="s"><v>0</v></c>`
	const repeats, long = "to be read of so few bytes", "names, ids and places of at most 512 bytes"
	each := func(n int, format string) string { // the number of each in the format
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	rels := func(n int, format string) []string {
		return []string{"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Type="t/worksheet" Target="worksheets/sheet1.xml"/>` + each(n, format) + "</Relationships>"}
	}
	var tiny []any
	for i := range 10_001 {
		tiny = append(tiny, fmt.Sprintf("%d.csv", i), "1,a\n2,b\n")
	}
	// taped is a packed tar archive of so many copies of a part.
	taped := func(part []byte, n int) []source.File {
		return []source.File{source.Bytes("t.tar.gz", bytes.Repeat(datatest.GzipOf(part), n))}
	}
	entry := func(name string, part any) []byte { // without the end of the archive
		b := datatest.Tar(name, part)
		return b[:len(b)-1024]
	}
	folder := tar.Header{Typeflag: tar.TypeDir}
	numbers := `<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4</v></c></row>`
	return map[string]attack{
		"a long text in each cell of a row":    {xlsx("<row>"+strings.Repeat(shared, 1000)+"</row>", "xl/sharedStrings.xml", sst(x(3*mb))), nil, "rows of at most 4 MB of text"},
		"a long text in each row":              {xlsx(strings.Repeat("<row>"+shared+`<c><v>1</v></c></row>`, 4000), "xl/sharedStrings.xml", sst(x(mb))), nil, repeats},
		"a middling text in each row":          {xlsx(strings.Repeat("<row>"+shared+`<c><v>1</v></c></row>`, 20_000), "xl/sharedStrings.xml", sst(x(30_000))), nil, repeats},
		"a text inline, and unpacked well":     {xlsx("<row>" + strings.Repeat(`<c t="inlineStr"><is><t>`+x(mb)+`</t></is></c>`, 9) + "</row>"), nil, "rows of at most 4 MB of text"},
		"the last column in each row":          {xlsx(strings.Repeat(`<row><c r="A1"><v>1</v></c><c r="XFD1048576"><v>1</v></c></row>`, 20_000)), nil, repeats},
		"rows far apart":                       {xlsx(`<row r="1"><c><v>1</v></c><c><v>1</v></c></row><row r="1048575"><c><v>1</v></c></row>` + strings.Repeat("<row/>", 3)), nil, "at most 1048576 rows"},
		"one place again and again":            {xlsx("<row>" + strings.Repeat(`<c r="A1"><v>1</v></c>`, 50_000) + "</row>"), nil, "at most 16384 columns"},
		"a million attributes":                 {xlsx("<row><c " + strings.Repeat(`a="" `, mb) + "/></row>"), nil, "at most 4 MB"},
		"a million entities":                   {xlsx("<row><c><v>" + strings.Repeat(`&lt;`, 2*mb) + "</v></c></row>"), nil, "at most 4 MB"},
		"a comment of 5 MB":                    {xlsx("<!--" + x(5*mb) + "-->" + numbers), nil, "expected tags, texts and comments of at most 4 MB, found a longer one"},
		"20 MB of comments before a row":       {xlsx(strings.Repeat("<!--"+x(mb)+"-->", 20) + numbers), nil, "expected a row in at most 16 MB of XML, found more before the next one"},
		"a row of 20,000 columns":              {xlsx("<row>" + strings.Repeat("<c><v>1</v></c>", 20_000) + "</row>"), nil, "found 16385. Keep the columns that matter."},
		"texts of 70 MB":                       {xlsx("<row>"+shared+"</row>", "xl/sharedStrings.xml", sst(strings.Split(strings.Repeat(x(1000)+" ", 70_000), " ")...)), nil, "at most 64 MB of text"},
		"texts of 40 MB in two books":          {append(xlsx("<row>"+shared+"</row>", "xl/sharedStrings.xml", sst(strings.Split(strings.Repeat(x(1000)+" ", 40_000), " ")...)), source.Bytes("c.xlsx", datatest.Book("S", "<row>"+shared+"</row>", "xl/sharedStrings.xml", sst(strings.Split(strings.Repeat(x(1000)+" ", 40_000), " ")...)))), nil, "at most 64 MB of text"},
		"long ids of places":                   {xlsx(numbers, rels(15, `<Relationship Id="%d`+x(3*mb)+`" Type="t/worksheet" Target="x"/>`)...), nil, long},
		"long places":                          {xlsx(numbers, rels(15, `<Relationship Id="%d" Type="t/worksheet" Target="`+x(3*mb)+`"/>`)...), nil, long},
		"long names of sheets":                 {xlsx(numbers, "xl/workbook.xml", `<workbook><sheets><sheet name="S" r:id="r1"/>`+each(999, `<sheet name="%d`+x(60_000)+`" r:id="r1"/>`)+"</sheets></workbook>"), nil, long},
		"long ids of sheets":                   {xlsx(numbers, "xl/workbook.xml", `<workbook><sheets><sheet name="S" r:id="r1"/>`+each(999, `<sheet name="%d" r:id="`+x(60_000)+`"/>`)+"</sheets></workbook>"), nil, long},
		"long ids of formats":                  {xlsx(numbers, "xl/styles.xml", "<styleSheet><numFmts>"+each(9000, `<numFmt numFmtId="%d`+x(8000)+`" formatCode="0"/>`)+"</numFmts></styleSheet>"), nil, long},
		"long ids of formats in styles":        {xlsx(numbers, "xl/styles.xml", "<styleSheet><cellXfs>"+each(99, `<xf numFmtId="%d`+x(8000)+`"/>`)+"</cellXfs></styleSheet>"), nil, long},
		"an entity that grows":                 {xlsx(`<row><c><v>&b;</v></c></row>`, "xl/workbook.xml", `<!DOCTYPE a [<!ENTITY a "xxxxxxxx"><!ENTITY b "&a;&a;&a;&a;">]><workbook>&b;</workbook>`), nil, "sound XML"},
		"a cell of slashes beside pictures":    {beside("filename,label\n1.png,a\n2.png,b\n3.png,a\n" + strings.Repeat("a/", 2_000_000) + ",x\n"), nil, "names of pictures of at most 65535 bytes"},
		"cells of slashes beside pictures":     {beside("filename,label\n1.png,a\n2.png,a\n3.png,a\n" + strings.Repeat(strings.Repeat("a/", 32_000)+",x\n", 400)), nil, "at least two classes"},
		"cells of slashes alone":               {[]source.File{source.Bytes("a.zip", datatest.Zip("a/1.png", g, "a/2.png", h, "l.csv", "filename,label\n"+strings.Repeat(strings.Repeat("a/", 32_000)+",x\n", 400)))}, nil, "2 pictures without either"},
		"a label table of a million columns":   {beside(strings.Repeat(strings.Repeat("1,", mb)+"1\n", 9)), nil, "at most 20000 columns"},
		"a label table of long rows":           {beside("filename,label\n" + strings.Repeat("1.png,"+x(4_000_000)+"\n", 100)), nil, "labels of at most 1000 bytes"},
		"a dictionary's long text in each row": {parquet, endlessColumns{[]byte("s,kind\n"), []byte(x(900_000) + ",TRUE\n"), false}, repeats},
		"a dictionary's picture in each row":   {parquet, endlessColumns{nil, framed(append(bytes.Clone(g), make([]byte, mb)...)), true}, repeats},
		"rows of columns without end":          {parquet, endlessColumns{[]byte("s,kind\n"), []byte(",\n"), false}, repeats},
		"a row of columns without end":         {parquet, endlessColumns{[]byte("s,kind\n"), []byte("x"), false}, "rows of at most 4 MB"},
		"5,000 entries on one file":            {[]source.File{source.Bytes("t.zip", overlapping(5000, []byte(strings.Repeat("1,a\n2,b\n", 9000))))}, nil, "some overlap"},
		"a table that is packed twice":         {[]source.File{source.Bytes("t.zip", datatest.Zip("t.csv.gz", datatest.GzipOf(bytes.Repeat([]byte("1,a\n2,b\n"), 5*mb))))}, nil, "Unpack the file and choose what was in it"},
		"5,000 entries on one tiny file":       {[]source.File{source.Bytes("t.zip", overlapping(5000, []byte("1,a\n2,b\n")))}, nil, "some overlap"},
		"a tiny file of each in an archive":    {[]source.File{source.Bytes("t.zip", datatest.Zip(tiny...))}, nil, "at most 10000 tables in archives"},
		"a tiny table of each beside pictures": {[]source.File{source.Bytes("t.zip", datatest.Zip(append([]any{"a/1.png", g, "b/2.png", h}, tiny...)...))}, nil, "at most 10000 tables in archives"},
		"65,535 entries on one file":           {[]source.File{source.Bytes("t.zip", overlapping(65_535, bytes.Repeat([]byte("1,a\n2,b\n"), mb/4)))}, nil, "some overlap"},
		"an entry larger than it says":         {[]source.File{source.Bytes("t.zip", understated(bytes.Repeat([]byte("1,a\n2,b\n"), mb/4)))}, nil, "a sound zip archive"},
		"a tar of a million empty files":       {taped(bytes.Repeat(entry("a/1.png", ""), 2000), 500), nil, "whose directory takes at most 16 MB"},
		"a tar of a million folders":           {taped(bytes.Repeat(entry("a/", folder), 2000), 500), nil, "whose directory takes at most 16 MB"},
		"a tar of names of 64 kB":              {taped(entry(strings.Repeat("long/", 13_000)+"1.csv", "1,a\n"), 2000), nil, "whose directory takes at most 16 MB"},
		"a tar of headers of a megabyte":       {taped(bytes.Repeat(entry(x(mb-512), "")[:mb+512], 2), 150), nil, "files in the archive"},
		"a tar of a packed table":              {[]source.File{source.Bytes("t.tar.gz", datatest.GzipOf(datatest.Tar("t.csv.gz", datatest.GzipOf(bytes.Repeat([]byte("1,a\n2,b\n"), 5*mb)))))}, nil, "Unpack the file and choose what was in it"},
		"a tar of a table that packs well":     {[]source.File{source.Bytes("t.tar.gz", datatest.GzipOf(datatest.Tar("t.csv", bytes.Repeat([]byte("1,a\n2,b\n"), 5*mb))))}, nil, repeats},
		"a tar of a tiny file of each":         {[]source.File{source.Bytes("t.tar", datatest.Tar(tiny...))}, nil, "at most 10000 tables in archives"},
		"a zip of a row without end":           {zipped("t.csv", strings.Repeat("1,", 4*mb)), nil, "rows of at most 4 MB"},
		"a zip of a quote without end":         {zipped("t.csv", "a,b\n\""+strings.Repeat("1,2\n", 3*mb)), nil, "Look for a quote that is not closed"},
		"a zip of empty lines":                 {zipped("t.csv", "a,b\n1,2\n"+strings.Repeat("\n", 6*mb)), nil, "rows of at most 4 MB"},
		"a million columns":                    {csv(strings.Repeat(strings.Repeat("1,", mb)+"1\n", 9)), nil, "at most 20000 columns"},
		"a million members":                    {[]source.File{source.Bytes("t.csv.gz", bytes.Repeat(datatest.GzipOf(nil), mb/4))}, nil, "an empty file"},
		"an array of a terabyte":               {[]source.File{source.Bytes("x.npy", datatest.NPY("<f4", "1000000, 1000000", []float32{1}))}, nil, "over the limit of"},
		"an array of 32 dimensions":            {[]source.File{source.Bytes("x.npy", datatest.NPY("<f4", strings.Repeat("2147483647, ", 32), []float32{1}))}, nil, "over the limit of"},
		"an array that gzip cannot hold":       {[]source.File{source.Bytes("x.npy.gz", datatest.GzipOf(datatest.NPY("|u1", "16000, 65536", []uint8{1}))), source.Bytes("y.npy", datatest.NPY("|u1", "16000", make([]uint8, 16_000)))}, nil, "bytes, as the header promises"},
		"a header of NumPy's that nests":       {[]source.File{source.Bytes("x.npy", datatest.NPY(strings.Repeat("[", 9000), "1,", []uint8{1}))}, nil, "NumPy array"},
		"pictures of IDX without bytes":        {[]source.File{source.Bytes("a-idx3", datatest.IDX(nil, 1<<14, 1<<8, 1<<8)), source.Bytes("b-idx1", datatest.IDX(nil, 1<<14))}, nil, "the file ends early"},
	}
}

// TestAttacks: each is refused by the bound that it passes, in words, with little memory, and
// no more has been made of it than its bytes allow.
func TestAttacks(t *testing.T) {
	if testing.Short() && runtime.GOOS == "js" {
		t.Skip("bytes are counted alike natively, in a tenth of the time; web/e2e has hostile files in the page")
	}
	for name, a := range attacks() {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			in := source.NewReading(t.Context(), run.CSV{})
			in.Parquet = func(source.File) (source.Columns, error) { return a.columns, nil }
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			ds, err := load.Files(in, a.files, nil)
			runtime.ReadMemStats(&after)
			var e *data.Error
			switch {
			case err == nil:
				t.Fatalf("%d rows were read of it", ds.Train.N)
			case !errors.As(err, &e) || e.Fix == "" || loadtest.BadVerb(err.Error()) || len(err.Error()) > 700 || !strings.Contains(err.Error(), a.want):
				t.Errorf("%v, want %q", err, a.want)
			}
			if strings.Contains(fmt.Sprint(err), "CSV") && a.columns != nil && a.columns.Pictures() {
				t.Errorf("pictures are to be saved as a table: %v", err)
			}
			size := int64(0)
			for _, f := range a.files {
				size += f.Size()
			}
			const chunk = 1 << 20 // which may be made before it is counted
			if in.Made > source.Allowance(size)+in.Taken.Decoded+chunk {
				t.Errorf("%d bytes were made of %d", in.Made, size)
			}
			grown := (int64(after.HeapSys) - int64(before.HeapSys)) >> 20
			t.Logf("%7d bytes: %4d MB made, %5d MB allocated, the heap grew by %4d MB: %v", size, in.Made>>20, (after.TotalAlloc-before.TotalAlloc)>>20, grown, err)
			if grown > 300 {
				t.Errorf("the heap grew by %d MB", grown)
			}
		})
	}
}

// asked is a file that counts how often it is asked for its name and opened.
type asked struct {
	source.File
	names, opens *int
}

func (f asked) Name() string {
	*f.names++
	return f.File.Name()
}

func (f asked) Open() (io.ReadCloser, error) {
	*f.opens++
	return f.File.Open()
}

// TestWorkGrowsWithFiles: of twice as many files, twice as much is asked, whatever they are called
// and however many have the same size.
func TestWorkGrowsWithFiles(t *testing.T) {
	count := func(n int) (names, opens int) {
		var files []source.File
		roles := map[string]string{}
		for i := range n {
			name := fmt.Sprintf("%04d.csv", i)
			roles[name] = source.RoleTrain
			files = append(files, asked{source.Bytes(name, fmt.Appendf(nil, "%04d.5,a\n%04d.5,b\n", i, i+n)), &names, &opens})
		}
		if _, _, err := load.Load(t.Context(), files, nil, run.CSV{Roles: roles}, nil); err != nil {
			t.Fatal(err)
		}
		return names, opens
	}
	names, opens := count(100)
	moreNames, moreOpens := count(200)
	if moreNames > 2*names+100 || moreOpens > 2*opens+10 {
		t.Errorf("100 files: %d names, %d times opened; 200: %d and %d", names, opens, moreNames, moreOpens)
	}
}

// counted is a context that counts how often it is looked at, and ends after so many times.
type counted struct {
	context.Context
	looks, most int
}

func (c *counted) Err() error {
	if c.looks++; c.looks > c.most {
		return context.Canceled
	}
	return nil
}

// TestReadingEnds: whatever is read, the context is looked at all along, and when it has ended
// reading does, within as much work as lies between two looks.
func TestReadingEnds(t *testing.T) {
	table := honestTable(20_000)
	g := datatest.Grey(9, 9, 3)
	var pictures []any
	for i := range 3000 {
		pictures = append(pictures, fmt.Sprintf("%c/%d.png", 'a'+i%2, i), g)
	}
	twins := []source.File{source.Bytes("a", table), source.Bytes("b", bytes.Clone(table))}
	images, labels := datatest.Images(2000, 20, 20, 3)
	for name, files := range map[string][]source.File{
		"CSV": {source.Bytes("t.csv", table)}, "gzip": {source.Bytes("t.csv.gz", datatest.GzipOf(table))}, "zip": {source.Bytes("t.zip", datatest.Zip("t.csv", table))}, "tar": {source.Bytes("t.tar", datatest.Tar("t.csv", table))}, "tgz": {source.Bytes("t.tgz", datatest.GzipOf(datatest.Tar("t.csv", table)))}, "pictures in tar": {source.Bytes("a.tgz", datatest.GzipOf(datatest.Tar(pictures...)))}, "xlsx": {source.Bytes("b.xlsx", honestBook(5000))},
		"pictures": {source.Bytes("a.zip", datatest.Zip(pictures...))}, "alike": twins, "IDX": {source.Bytes("a", images), source.Bytes("b", labels)}, "CIFAR": {source.Bytes("c.bin.gz", datatest.GzipOf(datatest.CIFAR(300)))},
		"NPY":    {source.Bytes("X.npy", datatest.NPY("<f4", "40000, 3", datatest.Ramp[float32](120_000))), source.Bytes("y.npy", datatest.NPY("|u1", "40000", bytes.Repeat([]byte{0, 1}, 20_000)))},
		"shared": {source.Bytes("b.xlsx", datatest.Book("S", "<row><c/></row>", "xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si/>", 300_000)+"</sst>"))},
	} {
		whole := &counted{Context: t.Context(), most: 1 << 40}
		in := source.NewReading(whole, datatest.AllToTrain(run.CSV{}))
		read, _ := load.Files(in, files, nil)
		if read == nil && name != "shared" {
			t.Errorf("%s: it is not read", name)
		}
		if whole.looks < 4 {
			t.Errorf("%s: the context is looked at %d times", name, whole.looks)
		}
		for _, part := range []int{1, 3, 7, 9} {
			ctx := &counted{Context: t.Context(), most: whole.looks * part / 10}
			_, _, err := load.Load(ctx, files, nil, datatest.AllToTrain(run.CSV{}), nil)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ended after %d of %d looks: %v", name, ctx.most, whole.looks, err)
			}
			if ctx.looks > ctx.most+6 { // the first that it has ended, and who asks why there is an error
				t.Errorf("%s: %d looks after the context had ended", name, ctx.looks-ctx.most)
			}
		}
		h := fnv.New64a()
		if err := (load.Loader{}).Parts(&counted{Context: t.Context(), most: 2}, files, run.CSV{}, true, h, func() {}); name != "IDX" && name != "NPY" && name != "CIFAR" && !errors.Is(err, context.Canceled) {
			t.Errorf("parts of %s: %v", name, err)
		}
	}
}

// lyingColumns says that it has more rows of pictures than can be counted.
type lyingColumns struct{ endlessColumns }

func (lyingColumns) Rows() int64 { return 1 << 60 }

// TestRowsBeyondCounting: so many that their bytes overflow are refused.
func TestRowsBeyondCounting(t *testing.T) {
	in := source.NewReading(t.Context(), run.CSV{})
	in.Parquet = func(source.File) (source.Columns, error) {
		return lyingColumns{endlessColumns{nil, framed(datatest.Grey(9, 9, 3)), true}}, nil
	}
	_, err := load.Files(in, []source.File{source.Bytes("t.parquet", append([]byte("PAR1"), 0, 1, 2, 3))}, nil)
	if err == nil || !strings.Contains(err.Error(), "at most 1024 MB of data") {
		t.Errorf("%v", err)
	}
}
