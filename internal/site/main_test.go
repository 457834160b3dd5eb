//go:build !js

package site

import (
	"log"
	"os"
	"testing"
)

// TestMain runs the tests in the repository's root, as the program is.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}
