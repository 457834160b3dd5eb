package train

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"reflect"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/link"
	"clipscope/ui/preset"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// The texts that this browser keeps for the next visit.
//
// Guarantee: neither has anything of rows. They have what a link would, the name of the data, and
// hashes of the names of columns.
const (
	leftKey     = "clipscope-left"
	readingsKey = "clipscope-readings"
)

// leave keeps the settings for the next visit, once the person has changed or used them: those of
// a link that was only looked at are not kept, nor are those of a first visit.
func (s *Controller) leave() {
	if !s.touched {
		return
	}
	first := preset.First()
	hash, err := s.exp.effective().Hash()
	if was, _ := first.Hash(); err != nil || hash == was {
		hash = ""
	} else if s.exp.full().Data == form.Files {
		name := s.data.lost
		if s.data.name == form.Files && s.data.report != nil {
			name = s.data.report.Name
		}
		hash += "\n" + name
	}
	s.keep(leftKey, hash)
}

// touch notes that the settings are the person's own.
func (s *Controller) touch() {
	s.touched = true
	s.leave()
}

// restore takes the settings with which the page was left, where the address has none of its own.
func (s *Controller) restore() {
	hash, name, _ := strings.Cut(s.kept(leftKey), "\n")
	if now := browser.Hash(); hash == "" || now != "" && now != hash {
		return
	} else if now == "" {
		cfg, _, _ := link.ReadRun(hash)
		s.replace(cfg)
		s.restored = true
	}
	s.data.lost, s.data.left = name, true
}

// startAfresh begins as on a first visit, and forgets what was kept for the next one.
func (s *Controller) startAfresh() {
	s.forget()
	s.data.lost, s.address.lost = "", ""
	first := preset.First()
	s.replace(first)
	s.exp.example = &first
	s.address.write()
}

// forget deletes what was kept for the next visit.
func (s *Controller) forget() {
	s.keep(leftKey, "")
	s.keep(readingsKey, "")
	s.restored, s.data.recalled = false, false
}

// welcome says that the settings are those of an earlier visit.
func (s *Controller) welcome() string {
	if s.data.left && s.data.fault != "" {
		return s.data.fault
	}
	return "These are your settings from last time, kept in this browser."
}

// mostReadings bounds the number of tables that are remembered.
const mostReadings = 30

// readings returns what is kept of how tables were read: a salt, a new one where nothing is kept, and
// a line for each table, the newest first, with the hash of its columns' names and the settings as a
// link has them.
func (d *dataSource) readings() (salt string, list []string) {
	list = strings.Split(d.kept(readingsKey), "\n")
	if list[0] == "" {
		list[0] = rand.Text()
	}
	return list[0], list[1:]
}

// namesOf returns the names of columns, in their order.
func namesOf(columns []data.Column) string {
	var text strings.Builder
	for _, c := range columns {
		text.WriteString("\n" + c.Name)
	}
	return text.String()
}

// known returns the beginning of the line of a table with columns of these names.
func known(salt, names string) string {
	sum := sha256.Sum256([]byte(salt + names))
	return base64.StdEncoding.EncodeToString(sum[:]) + " "
}

// remember keeps how the table at hand is read, or nothing where that follows from the table.
func (d *dataSource) remember(csv run.CSV) {
	salt, list := d.readings()
	n, line := len(list), known(salt, d.columnNames)
	list = slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, line) })
	how, err := run.Config{CSV: style(csv, run.CSV{})}.Hash()
	switch {
	case err == nil && how != "":
		list = append([]string{salt, line + how}, list...)
	case len(list) < n:
		list = append([]string{salt}, list...)
	default:
		return
	}
	d.keep(readingsKey, strings.Join(list[:min(len(list), mostReadings)], "\n"))
}

// style returns csv with the choices of present that are no matter of columns: which files and rows
// are to test on, and what pictures are brought to.
func style(csv, present run.CSV) run.CSV {
	csv.Roles, csv.TestShare, csv.HoldOut = present.Roles, present.TestShare, present.HoldOut
	csv.Image, csv.Labels = present.Image, present.Labels
	return csv
}

// recall has files that were just chosen, of which r is known, read as a table of the same columns was,
// and reports whether there was one.
func (d *dataSource) recall(files app.Value, r *data.Report) bool {
	if files == nil || r == nil || len(r.Columns) == 0 {
		return false
	}
	if !d.fresh {
		if d.readAsAgreed(&d.exp.cfg.CSV, r.Columns) {
			d.exp.forgetReading()
			d.open(form.Files, files)
			return true
		}
		return false
	}
	d.fresh, d.columnNames = false, namesOf(r.Columns)
	salt, list := d.readings()
	line, c := known(salt, d.columnNames), &d.exp.cfg.CSV
	i := slices.IndexFunc(list, func(s string) bool { return strings.HasPrefix(s, line) })
	if d.recalled = i >= 0; d.recalled {
		cfg, _, _ := link.ReadRun(list[i][len(line):])
		*c = style(cfg.CSV, *c)
	}
	if agreed := d.readAsAgreed(c, r.Columns); !agreed && !d.recalled {
		return false
	}
	d.exp.forgetReading()
	d.open(form.Files, files)
	return true
}

// readAsAgreed has c read a table with these columns as those who invited to a room read theirs, and reports whether that
// is a change.
func (d *dataSource) readAsAgreed(c *run.CSV, columns []data.Column) (changed bool) {
	if d.agreed == nil {
		return false
	}
	before := *c
	c.Columns, c.Bounds = maps.Clone(c.Columns), maps.Clone(c.Bounds)
	theirs := d.agreed.CSV
	for i := range columns {
		col := &columns[i]
		if col.Name == theirs.Label && col.Kind != data.Label {
			c.Label = col.Name
		}
		if kind := theirs.Columns[col.Name]; kind != "" && kind != string(col.Kind) {
			if c.Columns == nil {
				c.Columns = map[string]string{}
			}
			c.Columns[col.Name] = kind
		}
		if b, ok := theirs.Bounds[col.Name]; ok {
			if c.Bounds == nil {
				c.Bounds = map[string]run.Bounds{}
			}
			c.Bounds[col.Name] = b
		}
	}
	c.Buckets, c.MaxLength = cmp.Or(theirs.Buckets, c.Buckets), cmp.Or(theirs.MaxLength, c.MaxLength)
	return !reflect.DeepEqual(before, *c)
}

// needs says what a table has to have that goes with the room to which one is invited; empty where none is asked for.
func (d *dataSource) needs() string {
	a := d.agreed
	if a == nil || len(a.Columns) == 0 {
		return ""
	}
	text := "Choose your own table. It needs the same columns in the same order: " + words.Brief(data.List(a.Columns), 300)
	if len(a.Classes) > 0 {
		text += "; and the classes " + words.Brief(data.List(a.Classes), 100)
	}
	return text + "."
}

// names returns the columns of the table at hand.
func (d *dataSource) names() (names []string) {
	for _, c := range d.columns() {
		names = append(names, c.Name)
	}
	return names
}

// unbounded returns the columns of numbers whose bounds are not declared.
func (d *dataSource) unbounded() (names []string) {
	for _, c := range d.columns() {
		if c.Kind == data.Numeric && c.Bounds == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// ReadAsNew forgets how tables of these columns are read, and reads the files as if they were the first.
func (d *dataSource) ReadAsNew() {
	c := &d.exp.cfg.CSV
	*c = style(run.CSV{}, *c)
	d.recalled = false
	d.remember(*c)
	d.exp.forgetReading()
	d.reopen()
}
