package lesson

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// said holds, for each figure, what its paper says with it, in its words as our text of the
// paper has them, and where. A claim has no number that is not in them.
var said = map[string]struct {
	figure string
	quotes []string
}{
	"vc-1": {"Figure 1", []string{"in most cases, the clipping frequency decreases as the training accuracy goes up",
		"two-layer neural network with MNIST and C ∈ {20, 40}. The clipping frequency is small initially and becomes stable at 15%"}},
	"vc-2": {"Figures 2 and 3", []string{"For MNIST with the linear model, there is a ∼ 2% loss in training and testing accuracy. For MNIST with two-layer NN, there is a 2 ∼ 3% loss in training and testing accuracy for C ∈ {20, 40} and a ∼ 4% loss for C = 10.", "For CIFAR10, the training and testing are easy as the model is trained on pre-trained features; both DP-SGD-VC and DP-SGD-GC can achieve similar accuracy at the end"}},
	"vc-4": {"Figure 4", []string{"The evolution of clipping frequency and the comparison of gradient clipping (GC) and value clipping (VC)", "we perform linear regression and add standard Gaussian noise (light-tailed) for the true gradient", "The conclusion is the same as in"}},
	"vc-5": {"Figure 5", []string{"the performance gap between WGC and VC grows as the privacy level ϵ becomes larger", "For linear model, the testing accuracy gap is ∼ 2% when ϵ ∼ 10 and the gap is ∼ 5% when ϵ ∼ 0.01. For two-layer neural networks, the performance gap is larger, the testing accuracy gap is ∼ 3% when ϵ ∼ 10 and the gap is about ∼ 9% when ϵ ∼ 0.01"}},
	"vc-t2": {"Table 2", []string{"DP-SGD-VC is slightly slower than the standard SGD algorithm and faster than other private training methods", "Micro-batching is the naive implementation of DP-SGD-GC and is significantly slower than SGD",
		"there is still a gap between the performance of GC-Opacus and the standard non-private SGD algorithm"}},
	"vc-h":  {"Theorem 4.5", []string{"with high probability, gradient clipping will never happen during the process of DP-SGD if the clipping threshold C is chosen appropriately", "let C = c 3 + c 4 log(nT )", "Assume f i 's are convex and L-smooth for some L > 0", "the first utility bound of DP-SGD-GC without a nonvanishing bias term", "the upper bound of the maximum gradient norm logarithmically depends on δ, T and n"}},
	"dc-1":  {"Figure 1", []string{"a two-dimensional grid search for the optimal learning rate", "demands extensive model training across various hyperparameter settings"}},
	"dc-t2": {"Tables II and III", []string{"DC-SGD-E does not need to tune any hyperparameter, and it will only train the model once with the total privacy cost", "ResNet18 CIFAR10 2 30.43 30.09 48.56", "ResNet18 CIFAR10 2 38.76 39.11 48.56", "CNN MNIST 2 92.39 92.06 94.18", "CNN MNIST 2 94.24 94.18 94.18", "4 95.08 94.91 94.70", "8 95.29", "8 95.99 95.78 94.95"}},
	"dc-2":  {"Figure 2", []string{"on a set of 256 random synthetic data drawn from", "DC-SGD-P adjusts the clipping threshold based on a percentile of gradient norms", "covering most data), our approach closely approximates the true result, demonstrating low sensitivity to"}},
	"dc-3":  {"Figures 3 and 4", []string{"The bias and variance go in opposite directions, and an optimal", "should exist", "our approximate calculation curve closely tracks the true curve"}},
	"dc-5":  {"Figure 5", []string{"significantly impacts the final model performance and needs to be chosen carefully"}},
	"dc-6":  {"Figure 6", []string{"has less impact on the model accuracy, considering the randomness during training. Therefore, we do not need to tune"}},
	"dc-7":  {"Figure 7", []string{"is small and it incurs a significant increase in the noise multiplier of the gradient, e.g., σH=1,ϵ=2"}},
	"dc-h":  {"Theorem 3", []string{"Convergence Analysis of DC-SGD-P", "The convergence analysis of DC-SGD-E is similar, with a minor modification", "Appendix C Convergence Analysis of DC-SGD-E", "The non-vanishing is a biased term due to clipping operation", "We believe that DC-SGD-E can also better balance the variance and bias in convergence analysis"}},
	"ac-2":  {"Figure 2", []string{"regression error of [14] is much higher than that of AdaCliP", "its error remains independent of the number of dimensions", "learning rate of 0.01"}},
	"ac-3":  {"Figure 3", []string{"which is a combination of both clipping and additive Gaussian noise", "shows that AdaCliP consistently adds less noise than [14]", "The ratio of noises is around 0.8"}},
	"ac-4":  {"Figure 4", []string{"To avoid clipping, we add noise proportional to maximum gradient norm i.e., 28", "show that SGD and momentum with various momentum factors", "converge to almost similar accuracies"}},
	"ac-t1": {"Table 1", []string{"AdaCliP achieves better accuracy than both [14] and norm bound", "ranges from 0.2% at ϵ=2.0", "to 1.1% at ϵ=0.1"}},
	"ac-t2": {"Table 2", []string{"784 dimensional input is projected to 60 dimensions using differentially private PCA", "ranges from 0.4%", "% at ϵ=2.0", "to 1.6%", "% at ϵ=0.2", "(Abadi et al) 85.55", "94.96", "95.91", "AdaCliP 87.18", "95.56", "96.31"}},
	"ac-h":  {"Section 4.3", []string{"less than that of [14] and whitening", "same as that of [14]"}},
	"ps-1":  {"Figure 1", []string{"small gradient samples frequently have a tendency to be practically orthogonal or even opposite to the true batch-averaged gradient"}},
	"ps-2":  {"Figure 2", []string{"weighted gain by up to 1/r times when its gradient norm moves toward 0", "gives small gradient samples a weight near 1"}},
	"ps-3":  {"Figure 3", []string{"our method has a higher percentage of gradients with larger similarity", "every 10 iterations"}},
	"ps-4":  {"Figure 4", []string{"the test accuracy changes very little with r in DP-PSAC and Auto S/NSGD for the same learning rate. Correspondingly, when using DP-SGD, the test accuracy is very sensitive to the clipping threshold C"}},
	"ps-h":  {"Remark 2", []string{"Theorems 2 and Corollary 1 give the nonvanishing bound in the order of O(r 1/2), which is superior compared with O(r 1) in NSGD", "non-vanishing upper bound, which cannot be reduced as the number of iterations increases"}},
}

var texts = map[string]string{"VC": "value-clipping.txt", "DC": "dc-sgd.txt", "AC": "adaclip.txt", "PS": "dp-psac.txt"}

// number is written in a claim; a name such as DC-SGD-E has none, ResNet18 has 18.
var number = regexp.MustCompile(`\d+(?:\.\d+)?`)

func numbers(text string) (all []float64) {
	for _, s := range number.FindAllString(text, -1) {
		v, _ := strconv.ParseFloat(s, 64)
		all = append(all, v)
	}
	return all
}

// TestClaimsAreTheirPapers holds each claim to its paper: the figure's number, sentences that are
// in the paper's text, and no number that is in none of them.
func TestClaimsAreTheirPapers(t *testing.T) {
	shared := os.Getenv("CLIPSCOPE_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	text := map[string]string{}
	for paper, name := range texts {
		b, err := os.ReadFile(filepath.Join(shared, "papers", name))
		if err != nil {
			t.Logf("%s: quotes are not looked up: %v", paper, err)
			continue
		}
		text[paper] = strings.Join(strings.Fields(string(b)), " ")
	}
	all := figures(t)
	if len(all) != len(said) {
		t.Errorf("%d figures, and the words of %d", len(all), len(said))
	}
	for _, f := range all {
		of, ok := said[f.ID]
		if !ok || of.figure != f.Figure {
			t.Errorf("%s is %q, in the paper %q", f.ID, f.Figure, of.figure)
		}
		for _, q := range of.quotes {
			if whole := text[f.Paper]; whole != "" && !strings.Contains(whole, q) {
				t.Errorf("%s: the paper does not say %q", f.ID, q)
			}
		}
		theirs := numbers(strings.Join(of.quotes, " "))
		for _, v := range numbers(f.Claim) {
			if !slices.Contains(theirs, v) {
				t.Errorf("%s: %v is none of the paper's numbers %v, in %q", f.ID, v, theirs, f.Claim)
			}
		}
	}
}

// TestOurResultsAreTheStoredOnes: what is said of our results has percentages with a
// decimal, and differences of accuracies, that follow from those that are stored.
func TestOurResultsAreTheStoredOnes(t *testing.T) {
	decimal := regexp.MustCompile(`\d+\.\d+`)
	for _, f := range figures(t) {
		known := append(numbers(strings.Join(said[f.ID].quotes, " ")), elsewhere[f.ID]...)
		var accuracies []float64
		for _, o := range f.Stored {
			accuracies = append(accuracies, float64(o.Accuracy))
			known = append(known, float64(o.Loss), math.Sqrt(float64(o.Error)), float64(o.Cosine), float64(o.Time))
		}
		for _, g := range f.Grids {
			for _, row := range g.Stored {
				accuracies = append(accuracies, row...)
			}
		}
		for _, a := range accuracies {
			known = append(known, 100*a)
			for _, b := range accuracies {
				known = append(known, 100*(a-b))
			}
		}
		for _, l := range append(f.Lanes, Lane{Label: f.Base.Method}) {
			known = append(known, numbers(l.Label)...)
		}
		for _, s := range decimal.FindAllString(f.Differs, -1) {
			v, _ := strconv.ParseFloat(s, 64)
			_, places, _ := strings.Cut(s, ".")
			if unit := math.Pow10(-len(places)); !slices.ContainsFunc(known, func(k float64) bool { return math.Abs(k-v) <= 0.501*unit }) {
				t.Errorf("%s: %s is no stored result, in %q", f.ID, s, f.Differs)
			}
		}
	}
}

// elsewhere holds numbers of our text that are of settings, or measured by the command of
// docs/reproductions.md that the text names.
var elsewhere = map[string][]float64{
	"vc-2":  {0.3, 0.1},
	"ac-3":  {1.2}, // 7.73/6.46, 2.3/1.94, 0.883/0.756
	"ac-2":  {0.5},
	"vc-t2": {1.19, 1.25, 6.4}, // TestPapersValueClippingTimes
	"vc-h":  {0.0285},          // rounded to one digit more
	"dc-h":  {2.17, 0.02},      // TestPapersSettledThreshold
	"ac-t2": {55.5},            // where multiplications and additions are fused
}
