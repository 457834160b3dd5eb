package run

import (
	"strconv"
	"strings"
)

// LayerText is a layer's text: its name, numbers, and letters with numbers.
type LayerText struct {
	Name    string
	Numbers []int
	letters map[byte]int
}

// ReadLayer reads the text of a layer that a model has been made of.
func ReadLayer(text string) LayerText {
	parts := strings.Split(strings.TrimSpace(text), ":")
	w := LayerText{Name: parts[0], letters: map[byte]int{}}
	for _, p := range parts[1:] {
		if n, err := strconv.Atoi(p); err == nil {
			w.Numbers = append(w.Numbers, n)
		} else if p != "" {
			w.letters[p[0]], _ = strconv.Atoi(p[1:])
		}
	}
	return w
}

// Letter returns the number after a letter, or another where there is none.
func (w LayerText) Letter(letter byte, other int) int {
	if n, ok := w.letters[letter]; ok {
		return n
	}
	return other
}
