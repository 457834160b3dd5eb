package chacha

// Key names one sequence: a ChaCha key and a nonce that is used for nothing else.
type Key struct {
	Key   [8]uint32
	Nonce [3]uint32
}

// Stream is the word stream of a key and a nonce, two words a draw, low word
// first. It implements the Source of math/rand/v2. It is not safe for
// concurrent use.
//
// Guarantee: the stream does not repeat. The last block of a key (counter
// 2³²−1) is never given out: its first eight words become the next key, and
// the counter starts again at 0.
type Stream struct {
	key     [8]uint32
	nonce   [3]uint32
	counter uint32 // of the next block
	words   [16]uint32
	used    int // of words
}

// NewStream returns the stream of key and nonce, at its start.
func NewStream(key [8]uint32, nonce [3]uint32) *Stream {
	return &Stream{key: key, nonce: nonce, used: 16}
}

// Uint64 returns the next 64 bits.
func (s *Stream) Uint64() uint64 {
	if s.used == len(s.words) {
		s.refill()
	}
	v := uint64(s.words[s.used]) | uint64(s.words[s.used+1])<<32
	s.used += 2
	return v
}

func (s *Stream) refill() {
	Block(&s.key, s.counter, &s.nonce, &s.words)
	if s.counter == 1<<32-1 {
		s.key = [8]uint32(s.words[:8])
		s.counter = 0
		Block(&s.key, s.counter, &s.nonce, &s.words)
	}
	s.counter++
	s.used = 0
}
