package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A function as a test's table has it: the tables of its frame, its files and its lines,
// and further ones.
type function struct{ frame, file, line, more []byte }

// tableOf writes an image with a table of lines.
func tableOf(functions ...function) []byte {
	le := binary.LittleEndian
	names, files, values := []byte("main.main\x00"), []byte("main.go\x00"), []byte{0}
	add := func(sequence []byte) uint32 {
		if sequence == nil {
			return 0
		}
		at := len(values)
		values = append(values, sequence...)
		return uint32(at)
	}
	var where, records []byte
	for i, f := range functions {
		where = le.AppendUint32(le.AppendUint32(where, uint32(i<<16)), uint32(8*len(functions)+8+len(records)))
		tables := uint32(0)
		if f.more != nil {
			tables = 1
		}
		for _, v := range []uint32{uint32(i << 16), 0, 16, 0, add(f.frame), add(f.file), add(f.line), tables, 5, 7, 9} {
			records = le.AppendUint32(records, v)
		}
		if f.more != nil {
			records = le.AppendUint32(records, add(f.more))
		}
	}
	where = append(where, make([]byte, 8)...)
	out := append([]byte("before"), linesMagic...)
	at := linesHeader
	for _, v := range []int{len(functions), 1, 0, at, at + len(names), at + len(names), at + len(names) + len(files), at + len(names) + len(files) + len(values)} {
		out = le.AppendUint64(out, uint64(v))
	}
	return append(bytes.Join([][]byte{out, names, files, values, where, records}, nil), "after"...)
}

// needed is what the runtime itself asks of each function, its frame's table and further ones,
// and how many tables of files and lines there are.
func needed(t *testing.T, image []byte) (all [][]byte, lines int) {
	t.Helper()
	table, ok := linesOf(image)
	if !ok {
		t.Fatal("there is no table")
	}
	for i := range table.functions {
		r, err := table.record(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{recordFile, recordLine} {
			if binary.LittleEndian.Uint32(r[at:]) != 0 {
				lines++
			}
		}
		for _, offset := range [][]byte{r[recordFrame:recordFile], r[recordSize:]} {
			for ; len(offset) > 0; offset = offset[4:] {
				if at := int(binary.LittleEndian.Uint32(offset)); at != 0 {
					all = append(all, table.values[at:at+sequence(table.values[at:])])
				}
			}
		}
	}
	return all, lines
}

func TestDropLines(t *testing.T) {
	image := tableOf(
		function{frame: []byte{2, 9, 0}, file: []byte{4, 0x80, 1, 0}, line: []byte{6, 3, 8, 4, 0}, more: []byte{0, 5, 2, 1, 0}},
		function{frame: []byte{2, 7, 0}, line: []byte{0x90, 3, 7, 0}},
		function{},
	)
	was, lines := needed(t, bytes.Clone(image))
	if lines != 3 {
		t.Fatalf("%d tables of files and lines, not 3", lines)
	}
	dropped := bytes.Clone(image)
	if err := dropLines(dropped); err != nil {
		t.Fatal(err)
	}
	is, lines := needed(t, dropped)
	if lines != 0 || !bytes.Equal(bytes.Join(is, nil), bytes.Join(was, nil)) {
		t.Errorf("%d tables of files and lines are left, %v became %v", lines, was, is)
	}
	for _, gone := range [][]byte{[]byte("main.go"), {4, 0x80, 1, 0}, {6, 3, 8, 4, 0}, {0x90, 3, 7, 0}} {
		if !bytes.Contains(image, gone) || bytes.Contains(dropped, gone) {
			t.Errorf("%q is still there, or never was", gone)
		}
	}
	for _, stays := range []string{"before", "main.main", "after"} {
		if !bytes.Contains(dropped, []byte(stays)) {
			t.Errorf("%q is gone", stays)
		}
	}
}

// What is not known is left as it is, and what is broken is an error.
func TestDropLinesOfOthers(t *testing.T) {
	good := tableOf(function{frame: []byte{2, 9, 0}})
	header := len("before")
	record := len(good) - len("after") - recordSize
	with := func(at int, b ...byte) []byte {
		image := bytes.Clone(good)
		copy(image[at:], b)
		return image
	}
	for name, image := range map[string][]byte{
		"nothing":         {},
		"another version": with(header, 0xf2),
		"two tables":      append(bytes.Clone(good), good...),
		"a header alone":  good[:header+linesHeader-1],
		"parts in a knot": with(header+headerValues, 0xff, 0xff),
		"countless":       with(header+headerFunctions, 0xff, 0xff, 0xff, 0xff),
	} {
		is := bytes.Clone(image)
		if err := dropLines(is); err != nil || !bytes.Equal(is, image) {
			t.Errorf("%s: it is changed, or %v", name, err)
		}
	}
	for name, image := range map[string][]byte{
		"no record":            with(record-12, 0xff, 0xff, 0xff, 0xff),
		"a frame far off":      with(record+recordFrame, 0xff, 0xff, 0xff, 0x7f),
		"endless tables":       with(record+recordTables, 0xff, 0xff, 0xff, 0xff),
		"a table without end":  with(bytes.Index(good, []byte{2, 9, 0})+2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80),
		"a record half beyond": good[:record+recordSize-1],
	} {
		if err := dropLines(image); !errors.Is(err, errLines) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDropLinesOfTheProgram(t *testing.T) {
	linked, err := os.ReadFile("bin/web/app.wasm")
	if err != nil {
		t.Skip("make builds the program")
	}
	image, _ := imageOf(t, linked)
	was, lines := needed(t, bytes.Clone(image))
	if lines < 10_000 {
		t.Fatalf("the program has only %d tables of files and lines", lines)
	}
	if err := dropLines(image); err != nil {
		t.Fatal(err)
	}
	is, lines := needed(t, image)
	if lines != 0 || !bytes.Equal(bytes.Join(is, nil), bytes.Join(was, nil)) {
		t.Errorf("%d tables of files and lines are left, or another is not what it was", lines)
	}
}

// A program without lines collects its garbage by the frames it walks, and its stack still
// names functions.
func TestDropLinesRuns(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	dir := t.TempDir()
	const source = `package main

import "runtime"

type list struct{ next *list; n [9]int }

//go:noinline
func deep(n int, of *list) int {
	l := &list{next: of}
	l.n[n%9] = n
	if n == 0 {
		runtime.GC()
		panic("at the bottom")
	}
	sum := deep(n-1, l)
	return sum + l.n[n%9]
}

func main() {
	defer func() {
		println(recover().(string))
		runtime.GC()
		deep(0, nil)
	}()
	deep(5000, nil)
}
`
	program := filepath.Join(dir, "main.wasm")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	linked, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := joinSegments(linked, dropLines)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, joined, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, "--stack-size=8192", filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec_node.js"), program).CombinedOutput()
	if err == nil {
		t.Error("a panic is no failure")
	}
	for _, want := range []string{"at the bottom\npanic: at the bottom", "main.deep(", "\t?:0 +0x"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "main.go") {
		t.Errorf("a file is named in\n%s", out)
	}
}

func FuzzDropLines(f *testing.F) {
	f.Add(tableOf(function{frame: []byte{2, 9, 0}, line: []byte{6, 3, 8, 4, 0}, more: []byte{0, 5, 0}}))
	f.Add(tableOf())
	f.Fuzz(func(t *testing.T, image []byte) {
		if dropLines(image) != nil {
			return
		}
		again := bytes.Clone(image)
		if err := dropLines(again); err != nil || !bytes.Equal(again, image) {
			t.Fatalf("dropped twice it is another, %v", err)
		}
	})
}
