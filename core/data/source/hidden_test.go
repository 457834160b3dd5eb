package source

import "testing"

// TestHiddenFoldersAreKnown tells folders that programs hide from those that people name.
func TestHiddenFoldersAreKnown(t *testing.T) {
	for path, want := range map[string]bool{
		"d/.ipynb_checkpoints/1.png": true, ".thumbnails/1.png": true, "d/@eaDir/x/1.png": true, "a/@EADIR/1.png": true, ".Trash-1000/files/1.png": true,
		"__MACOSX/d/._1.png": true, "d/__MACOSX/1.png": true, "$RECYCLE.BIN/1.png": true, "d/.git/1.png": true, "System Volume Information/x": true,
		"d/cat/1.png": false, "./cat/1.png": false, "../cat/1.png": false, "d/v1.2/1.png": false, "d/...png": false, ".hidden.png": false, "d/@home/1.png": false, "__macosx_photos/1.png": false, "": false, "/": false,
	} {
		var h hidden
		if h.has(path) != want {
			t.Errorf("%s: hidden is %v", path, !want)
		}
	}
}

// TestLettersAreComposed: letters and their marks become one character, in any script, and all else stays.
func TestLettersAreComposed(t *testing.T) {
	for text, want := range map[string]string{
		"Ka\u0308se": "K\u00e4se", "K\u00e4se": "K\u00e4se", "e\u0323\u0302": "\u1ec7", "\u1112\u1161\u11ab": "\ud55c", "\u1112\u1161": "\ud558", "\u304b\u3099": "\u304c", "\u0438\u0306": "\u0439",
		"": "", "plain": "plain", "\u0308": "\u0308", "x\u0308\u0308": "\u1e8d\u0308", "q\u0302": "q\u0302", "a\xff\u0308": "a\xff\u0308", "\u0308a": "\u0308a", "a\u0301 o\u0301": "\u00e1 \u00f3",
	} {
		if got := Composed(text); got != want || Composed(got) != want {
			t.Errorf("%+q is composed to %+q, not %+q", text, got, want)
		}
	}
}

func FuzzComposed(f *testing.F) {
	f.Add("Ka\u0308se")
	f.Add("\u1112\u1161\u11ab\xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := Composed(s)
		if len(once) > len(s)+len(s)/2 {
			t.Errorf("%d bytes become %d", len(s), len(once))
		}
	})
}
