package cards

import "testing"

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"train-images-idx3-ubyte.gz": "train-images", "iris.csv": "iris.csv", "": "",
		"a-very-long-name-of-a-table.csv": "a-very-lon…table.csv", "日本語の名前がとても長いファイルです.csv": "日本語の名前がとても…ァイルです.csv",
	} {
		if got := shortName(name); got != want || len([]rune(got)) > 20 {
			t.Errorf("%q is shortened to %q, want %q", name, got, want)
		}
	}
}
