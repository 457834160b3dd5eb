// Package together has several parties train one model, each on rows of its own that never leave it. They agree
// on everything beforehand ([Agreement]), meet in a room (packages room and wire), and add up whole numbers in which
// each has its share of the noise, under masks that cancel in the sum. What every party takes its step with is that
// sum, so that all have the same parameters at all times. A [Party] is the exchange that package train asks for.
//
// # Guarantee
//
// What leaves a party is an agreement and a card, both sealed with the secret of the link by which parties
// join, proofs of what it was told, and in each round words that are masked. Words with their masks are
// uniform for everybody but those who know the keys of the pairs that the masks are made of, as far as
// X25519, HKDF and ChaCha are what they are taken for; so of the words of those present in a round no more
// can be told than their sum, by whoever has none of their keys. A party answers a round once, in all of its lives, and with
// one set of others: a second question about the same round is answered by the same bytes or not at all. So ε is
// that of the plan: centrally, where of those present in each round as many as are needed keep their noise to themselves, and
// for one party alone if it trusts nobody, as its words have its own share of noise.
//
// Whose keys they are is as sure as the beginning of the log ([Party.Fingerprint]), which parties compare: cards and
// proofs are signed from then on by keys that stand there.
//
// # Threats
//
//	an honest but curious room       sees sealed bytes, uniform words and the sums: ε
//	parties that collude             know their own noise: ε for as many as the quorum is above those that are
//	                                 needed; with more of them, ε alone
//	a room that invents parties      cannot, without the link's secret; with it, as where a party colludes, the
//	                                 fingerprints of the others differ: who does not compare has ε alone
//	a room that tells parties        is found before the next words leave: proofs differ
//	different sums
//	a party that lies                can ruin the model, as it could with its rows; it leaves its own noise
//	                                 out, which is one of the t
//	replays, late and second answers are refused by round, and change nothing
//	a stolen link                    lets its finder join before the start; who has joined is shown
package together

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Secret is known to the parties of a run and not to their room: it travels in the link by which they
// join, behind the #, which no browser sends.
type Secret [32]byte

// NewSecret draws one.
func NewSecret() (Secret, error) {
	var s Secret
	if _, err := rand.Read(s[:]); err != nil {
		return s, fmt.Errorf("together: no randomness for a secret: %w", err)
	}
	return s, nil
}

// derive returns 32 bytes for one purpose.
func derive(secret, salt []byte, purpose string) ([32]byte, error) {
	b, err := hkdf.Key(sha256.New, secret, salt, "clipscope together 1: "+purpose, 32)
	if err != nil {
		return [32]byte{}, fmt.Errorf("together: a key for %s: %w", purpose, err)
	}
	return [32]byte(b), nil
}

func (s Secret) sealer(purpose string) (cipher.AEAD, error) {
	key, err := derive(s[:], nil, purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("together: %w", err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("together: %w", err)
	}
	return seal, nil
}

// seal makes plain unreadable for who has not the secret. It is opened for the same purpose and about the
// same thing alone.
func (s Secret) seal(purpose string, about, plain []byte) ([]byte, error) {
	c, err := s.sealer(purpose)
	if err != nil {
		return nil, err
	}
	return c.Seal(nil, nil, plain, about), nil
}

var errSealed = errors.New("together: this was not sealed with the link's secret, or for another run")

func (s Secret) open(purpose string, about, sealed []byte) ([]byte, error) {
	c, err := s.sealer(purpose)
	if err != nil {
		return nil, err
	}
	plain, err := c.Open(nil, nil, sealed, about)
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}
