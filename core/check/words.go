package check

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// words are the numbers of a statement or of a guarantee in words, read back. A NaN or a
// zero count stands for a number that is not there.
type words struct {
	sigma, rate, epsilon, delta float64
	atStep                      float64
	pld, low, rdp               float64
	steps                       int
	accountant                  string
	groups                      map[int]float64
	stretches                   bool // the noise changed on the way
	once                        bool // something was released besides the steps
	selected                    bool // the best of several runs
	secure                      bool // noise joined from a table
	broken                      bool // no guarantee
}

const number = `(∞|[0-9][0-9.]*(?:e[+-]?[0-9]+)?)`

var (
	inRate      = regexp.MustCompile(`sample_rate = ` + number + ` and`)
	inSigma     = regexp.MustCompile(`noise_multiplier = ` + number + `( for [0-9]+ steps, then)?`)
	inSteps     = regexp.MustCompile(`over ([0-9]+) (?:planned )?steps`)
	inPromise   = regexp.MustCompile(`\(ε = ` + number + `, δ = ` + number + `\)-differential privacy`)
	inBy        = regexp.MustCompile(`by the ([A-Za-z]+) accountant`)
	inAtStep    = regexp.MustCompile(`ε would be ` + number)
	inGroup     = regexp.MustCompile(`ε = ` + number + ` for ([0-9]+)`)
	inEach      = regexp.MustCompile(`ε by accountant: PLD ` + number + ` \(the truth is at least ` + number + `\), RDP ` + number)
	inOnce      = regexp.MustCompile(`(?:Besides|Before) the steps, [0-9]+ releases? w`)
	inSentence  = regexp.MustCompile(`([0-9]+) steps with Poisson sampling at rate ` + number + ` and noise_multiplier ` + number)
	inClaim     = regexp.MustCompile(`(?i)ε\s*[=≤<]|differential(?:ly)?[ -]priva|epsilon`)
	inParagraph = regexp.MustCompile(`Poisson sampling at rate ` + number + `, noise multiplier ` + number + `, ([0-9]+) steps`)
)

// parse reads a number as the page writes it; NaN where it is none.
func parse(s string) float64 {
	s = strings.TrimSuffix(s, ".") // of the sentence
	if s == "∞" {
		return math.Inf(1)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func one(re *regexp.Regexp, text string) float64 {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return math.NaN()
	}
	return parse(m[1])
}

// mostWords is the most bytes of a statement in words, in which a dozen patterns are sought.
// What the page writes has some thousand.
const mostWords = 1 << 20

// readWords reads a statement in words, or a guarantee in one sentence. ok is false where it
// has not both ε and δ, or has them twice, or is longer than any statement.
func readWords(text string) (w words, ok bool) {
	if len(text) > mostWords {
		return w, false
	}
	w = words{sigma: math.NaN(), rate: math.NaN(), pld: math.NaN(), low: math.NaN(), rdp: math.NaN()}
	promise := inPromise.FindAllStringSubmatch(text, 2)
	if len(promise) != 1 {
		return w, false
	}
	w.epsilon, w.delta, w.atStep = parse(promise[0][1]), parse(promise[0][2]), one(inAtStep, text)
	if m := inBy.FindStringSubmatch(text); m != nil {
		w.accountant = strings.ToLower(m[1])
	}
	if m := inSentence.FindStringSubmatch(text); m != nil {
		w.steps, w.rate, w.sigma = count(m[1]), parse(m[2]), parse(m[3])
	} else if m := inParagraph.FindStringSubmatch(text); m != nil {
		w.rate, w.sigma, w.steps = parse(m[1]), parse(m[2]), count(m[3])
	} else {
		w.rate = one(inRate, text)
		if m := inSigma.FindStringSubmatch(text); m != nil {
			w.sigma, w.stretches = parse(m[1]), m[2] != ""
		}
		if m := inSteps.FindStringSubmatch(text); m != nil {
			w.steps = count(m[1])
		}
	}
	if m := inEach.FindStringSubmatch(text); m != nil {
		w.pld, w.low, w.rdp = parse(m[1]), parse(m[2]), parse(m[3])
	}
	for _, m := range inGroup.FindAllStringSubmatch(text, 16) {
		if w.groups == nil {
			w.groups = map[int]float64{}
		}
		w.groups[count(m[2])] = parse(m[1])
	}
	w.once = inOnce.MatchString(text) || strings.Contains(text, "were released first, with noise_multiplier")
	w.selected = strings.Contains(text, "best of several runs")
	w.secure = strings.Contains(text, "joined from draws of a table") || strings.Contains(text, "discrete noise on an integer grid")
	w.broken = strings.Contains(text, "no guarantee")
	return w, true
}

// count is a whole number; 0 where it is too large.
func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
