package source

import (
	"slices"
	"strings"
)

const (
	RoleTrain = "train"
	RoleTest  = "test"
)

// SplitFiles moves files to the roles that the map roles gives to their names. Where that leaves no test
// files, other files whose names say test become test files, and named is true: people drop all files of a
// data set at once. Rows of the files that stay in train are trained on.
func SplitFiles(train, test []File, roles map[string]string) (tr, te []File, named bool) {
	tr, te = part(train, func(f File) bool { return roles[f.Name()] == RoleTest })
	back, rest := part(test, func(f File) bool { return roles[f.Name()] != RoleTrain })
	if tr, te = append(tr, back...), append(te, rest...); len(te) > 0 {
		return tr, te, false
	}
	if others, te := part(tr, func(f File) bool { return roles[f.Name()] == "" && NamedTest(f.Name()) }); len(others) > 0 && len(te) > 0 {
		return others, te, true
	}
	return tr, nil, false
}

// part splits files into those for which no and yes is the answer.
func part(files []File, answer func(File) bool) (no, yes []File) {
	for _, f := range files {
		if answer(f) {
			yes = append(yes, f)
		} else {
			no = append(no, f)
		}
	}
	return no, yes
}

// NamedTest reports whether one of the words of a file's name, or of a folder's that it is in, is test or t10k.
func NamedTest(name string) bool {
	words := NameWords(strings.ReplaceAll(name, "/", " "))
	return slices.Contains(words, "test") || slices.Contains(words, "t10k")
}

// NameWords returns the words of a file's name, in small letters.
func NameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune("._- ()", r)
	})
}
