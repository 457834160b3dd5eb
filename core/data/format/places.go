package format

import (
	"path"
	"strings"

	"clipscope/core/data/source"
)

// Where pictures stand tells what they show: each class has a folder, and a folder
// above those may say that its pictures are to train or to test on.

// roleFolders maps the names of such folders to their roles.
var roleFolders = map[string]string{
	"train": source.RoleTrain, "training": source.RoleTrain, "test": source.RoleTest, "testing": source.RoleTest,
	"val": source.RoleTest, "valid": source.RoleTest, "validation": source.RoleTest,
}

// standing holds the role and class that the path of a picture says.
type standing struct {
	role  string   // train, test or nothing
	above []string // the folders that it stands in, below one of a role
}

// foldersOf returns the folders in a path, the outermost first.
func foldersOf(name string) []string {
	dir := strings.Trim(path.Dir(strings.TrimLeft(name, "/")), "/")
	if dir == "." || dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}

func standsIn(name string) standing {
	folders := foldersOf(name)
	for i, part := range folders {
		if role := roleFolders[strings.ToLower(part)]; role != "" {
			return standing{role, folders[i+1:]}
		}
	}
	return standing{above: folders}
}

// classFolders returns the class of each picture by its path: the first folder that is not above all
// pictures or, below a folder of a role, the first one there. A class is empty where there is none.
func classFolders(all []standing) []string {
	common := -1 // how many folders stand above all pictures
	var first []string
	for _, s := range all {
		if s.role != "" {
			continue
		}
		if common < 0 {
			first, common = s.above, len(s.above)
		}
		n := 0
		for n < min(common, len(s.above)) && s.above[n] == first[n] {
			n++
		}
		common = n
	}
	classes := make([]string, len(all))
	for i, s := range all {
		above := s.above
		if s.role == "" {
			above = above[common:]
		}
		if len(above) > 0 {
			classes[i] = above[0]
		}
	}
	return classes
}
