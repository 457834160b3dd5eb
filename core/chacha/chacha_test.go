package chacha

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

func words(t *testing.T, hexBytes string) []uint32 {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(hexBytes), ""))
	if err != nil {
		t.Fatal(err)
	}
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

func TestBlockKnownAnswers(t *testing.T) {
	const (
		zeroKey = "0000000000000000000000000000000000000000000000000000000000000000"
		incKey  = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	)
	tests := []struct {
		name    string
		rounds  int
		key     string
		counter uint32
		nonce   string
		want    string
	}{
		{"RFC 8439 §2.3.2", 20, incKey, 1, "000000090000004a00000000",
			"10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e" +
				"d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"},
		{"RFC 8439 A.1 vector 1", 20, zeroKey, 0, "000000000000000000000000",
			"76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7" +
				"da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"},
		{"RFC 8439 A.1 vector 2", 20, zeroKey, 1, "000000000000000000000000",
			"9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed" +
				"29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"},
		{"draft-strombergson-chacha-test-vectors TC1, 256-bit key, 12 rounds", 12, zeroKey, 0, "000000000000000000000000",
			"9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f" +
				"0564f879d27ae3c02ce82834acfa8c793a629f2ca0de6919610be82f411326be"},
		{"the same, second block", 12, zeroKey, 1, "000000000000000000000000",
			"0bd58841203e74fe86fc71338ce0173dc628ebb719bdcbcc151585214cc089b4" +
				"42258dcda14cf111c602b8971b8cc843e91e46ca905151c02744a6b017e69316"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, nonce := [8]uint32(words(t, tt.key)), [3]uint32(words(t, tt.nonce))
			var got [16]uint32
			block(tt.rounds, &key, tt.counter, &nonce, &got)
			if want := [16]uint32(words(t, tt.want)); got != want {
				t.Errorf("got  %08x\nwant %08x", got, want)
			}
		})
	}
}

func TestBlockHasTwelveRounds(t *testing.T) {
	key, nonce := [8]uint32{1, 2, 3}, [3]uint32{4, 5, 6}
	var got, want [16]uint32
	Block(&key, 7, &nonce, &got)
	block(12, &key, 7, &nonce, &want)
	if got != want {
		t.Errorf("got %08x, want %08x", got, want)
	}
}
