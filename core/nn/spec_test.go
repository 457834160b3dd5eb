package nn

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestReadNamesWhatDoesNotFit: what does not fit is named by its place and its text.
func TestReadNamesWhatDoesNotFit(t *testing.T) {
	picture, table := Shape{7, 7, 3}, Shape{Channels: 12}
	for _, tt := range []struct {
		in     Shape
		layers string
		want   string
	}{
		{picture, "", "needs at least one layer"},
		{picture, "conv:8:3 relu conv:16:9 dense", "layer 3, conv:16:9: the kernel is 9×9, its input only 5×5"},
		{picture, "conv:8:9:p8 conv:8:18:p1:s2 dense", "layer 2, conv:8:18:p1:s2: the kernel is 18×18, its input only 15×15 with a padding of 1"},
		{picture, "maxpool:8 dense", "layer 1, maxpool:8: the kernel is 8×8, its input only 7×7"},
		{table, "conv:8:3 dense", "layer 1, conv:8:3: it works on pictures, but gets 12 numbers that stand in no picture"},
		{table, "globalpool dense", "layer 1, globalpool: it works on pictures"},
		{picture, "flatten groupnorm:3 dense", "layer 2, groupnorm:3: it works on pictures, but gets 147 numbers"},
		{picture, "groupnorm:2 dense", "layer 1, groupnorm:2: 3 channels cannot be parted into 2 groups"},
		{picture, "conv:4:3:p3 dense", "layer 1, conv:4:3:p3: with a padding of 3, a kernel of 3×3 would see nothing but padding"},
		{picture, "convolution:3 dense", `layer 1: there is no layer "convolution"; choose add, attention, avgpool, bias`},
		{picture, "conv:3 dense", `layer 1: "conv:3" cannot be read; write conv:CHANNELS:SIZE`},
		{picture, "conv:3:3:s1:s2 dense", "layer 1: \"conv:3:3:s1:s2\" cannot be read"},
		{picture, "conv:3:3:q1 dense", "cannot be read"},
		{picture, "conv:3:-3 dense", "cannot be read"},
		{picture, "conv:3:3:s0 dense", "cannot be read"},
		{picture, "conv:65537:3 dense", "with whole numbers from 1 to 65536"},
		{picture, "maxpool:2:p1 dense", "cannot be read; write maxpool:SIZE"},
		{picture, "relu:3 dense", "cannot be read; write relu"},
		{picture, "dense:0", "cannot be read"},
		{picture, "conv:4:3", "the last layer, conv:4:3, gives 5×5×4, but the data needs 10 outputs: end with dense"},
		{picture, "dense:9", "the last layer, dense:9, gives 9, but the data needs 10 outputs"},
		{picture, "add dense", "layer 1, add: no skip stands before it"},
		{picture, "skip relu dense", "after layer 3 a skip still waits for its add"},
		{picture, "skip conv:4:3 add dense", "layer 3, add: the block gives 5×5×4, its skip 7×7×3"},
		{picture, "skip:s2 relu add dense", "layer 1, skip:s2: a stride needs a convolution"},
		{table, "skip:4 add dense", "layer 1, skip:4: it works on pictures"},
		{picture, "embedding:9:2 dense", "layer 1, embedding:9:2: it takes each number of a row for a token, and a picture has none"},
		{table, "tanh embedding:9:2 dense", "layer 2, embedding:9:2: it takes the numbers of the data for tokens, so it stands first"},
		{table, "skip embedding:9:2 add dense", "layer 2, embedding:9:2: it takes the numbers of the data for tokens"},
		{table, "mean dense", "layer 1, mean: it is of the tokens of a row, of which one vector is left: an embedding stands first"},
		{picture, "mean dense", "layer 1, mean: it is of the tokens of a row"},
		{table, "embedding:9:2 globalpool mean dense", "layer 3, mean: it is of the tokens of a row"},
		{table, "embedding:9:2 flatten mean dense", "layer 3, mean: it is of the tokens of a row"},
		{table, "embedding:9:2 conv1d:4:3 maxpool:1:s2 mean dense", "layer 4, mean: it is of the tokens of a row"},
		{table, "embedding:9:2 mean mean dense", "layer 3, mean: it is of the tokens of a row"},
		{table, "embedding:9:2 mean dense:3 mean dense", "layer 4, mean: it is of the tokens of a row"},
		{table, "embedding:9:2 conv1d:4:300 mean dense", "layer 2, conv1d:4:300: the kernel is 300×1, its input only"},
		{picture, "conv1d:4:3 flatten dense", "layer 1, conv1d:4:3: it goes along a sequence: an embedding stands first; in pictures take conv"},
		{table, "conv1d:4:3 flatten dense", "layer 1, conv1d:4:3: it goes along a sequence"},
		{picture, "attention:1 dense", "layer 1, attention:1: it is of the tokens of a row: an embedding stands first"},
		{table, "position dense", "layer 1, position: it is of the tokens of a row: an embedding stands first"},
		{table, "embedding:9:2 conv1d:4:3 attention:2 mean dense", "layer 3, attention:2: it is of the tokens of a row"},
		{table, "embedding:9:2 mean attention:2 dense", "layer 3, attention:2: it is of the tokens of a row"},
		{table, "embedding:9:6 attention:4 mean dense", "layer 2, attention:4: 6 channels cannot be parted among 4 heads"},
		{table, "embedding:9:6 attention mean dense", `layer 2: "attention" cannot be read; write attention:HEADS`},
		{table, "embedding:9:6 lstm last dense", `layer 2: "lstm" cannot be read; write lstm:CELLS`},
		{table, "embedding:9:6 conv1d:4:3 lstm:2 last dense", "layer 3, lstm:2: it is of the tokens of a row"},
		{picture, "lstm:2 last dense", "layer 1, lstm:2: it is of the tokens of a row"},
		{picture, "last dense", "layer 1, last: it is of the tokens of a row, of which one vector is left"},
		{table, "embedding:9:2 lstm:60000 last dense", "layer 2, lstm:60000: its 240000 kernels"},
		{Shape{Channels: 1 << 25}, "embedding:9:1 lstm:1 last dense", "layer 2, lstm:1: a row has 33554432 places, more than the 16777216"},
		{table, "embedding:9:6 first last dense", "layer 3, last: it is of the tokens of a row"},
		{picture, "layernorm:e21 dense", "layer 1, layernorm:e21: it adds too little"},
		{picture, "layernorm:e0 dense", `"layernorm:e0" cannot be read`},
		{picture, "layernorm:12 dense", `"layernorm:12" cannot be read`},
		{table, "layernorm dense", "layer 1, layernorm: it works on pictures, but gets 12 numbers"},
		{Shape{Channels: 1 << 20}, "embedding:9:64 attention:64 mean dense", "layer 2, attention:64: it gives 1048576×1×64 for each row, more than"},
		{table, "embedding:65536:65536 dense", "layer 1, embedding:65536:65536: its table of 65536×65536 has more parameters"},
		{Shape{Channels: 1 << 16}, "dense:65536 dense", "layer 1, dense:65536: with its 4295032832 parameters there are more"},
		{Shape{1000, 1000, 3}, "conv:65536:1 dense", "layer 1, conv:65536:1: it gives 1000×1000×65536 for each row, more than"},
	} {
		_, err := Read(tt.in, strings.Fields(tt.layers), 10, SoftmaxCE)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %q: %v, want %q", tt.in, tt.layers, err, tt.want)
		}
	}
}

// TestTensorsAreTheParameters: of every layer that has some.
func TestTensorsAreTheParameters(t *testing.T) {
	for _, layers := range []string{
		"conv:4:3:p1 groupnorm:2 relu layernorm gelu bias skip:8:s2 wsconv:8:3:s2:p1 add globalpool dense:5 tanh dense", "flatten dense",
	} {
		s := must(Read(Shape{8, 8, 3}, strings.Fields(layers), 10, SoftmaxCE))
		all := 0
		for i, l := range s.Layers {
			n := 0
			for _, x := range l.Tensors {
				size := 1
				for _, d := range x.Shape {
					size *= d
				}
				n += size
			}
			if n != l.Parameters {
				t.Errorf("%s: layer %d, %s, has %d parameters, its tensors %v", layers, i+1, l.Text, l.Parameters, l.Tensors)
			}
			all += n
		}
		if all != s.Params() {
			t.Errorf("%s: %d parameters, want %d", layers, all, s.Params())
		}
	}
}

// TestOutlinesEqualThoseByHand: shapes, parameters and products that were worked out by hand, of
// the network in Opacus's MNIST example.
func TestOutlinesEqualThoseByHand(t *testing.T) {
	s := must(Read(Shape{28, 28, 1}, strings.Fields(" conv:16:8:s2:p3 relu maxpool:2:s1 conv:32:4:s2 relu maxpool:2:s1 flatten dense:32 relu dense "), 10, SoftmaxCE))
	if s.Params() != 26_010 {
		t.Errorf("%d parameters, want 26,010", s.Params())
	}
	for i, want := range []struct {
		out      string
		d        int
		products int64
	}{
		{"14×14×16", 1040, 196 * 64 * 16}, {"14×14×16", 0, 0}, {"13×13×16", 0, 0}, {"5×5×32", 8224, 25 * 256 * 32}, {"5×5×32", 0, 0},
		{"4×4×32", 0, 0}, {"512", 0, 0}, {"32", 16_416, 512 * 32}, {"32", 0, 0}, {"10", 330, 320},
	} {
		if l := s.Layers[i]; l.Out.String() != want.out || l.Parameters != want.d || l.Products != want.products {
			t.Errorf("layer %d, %s: %v, %d parameters, %d products; want %+v", i+1, l.Text, l.Out, l.Parameters, l.Products, want)
		}
	}
}

// TestSizesThatOverflowAreRefused: four sizes of 2¹⁶, plus a bias, are 2¹⁶ parameters in 64 bits.
func TestSizesThatOverflowAreRefused(t *testing.T) {
	for _, name := range []string{"conv", "wsconv"} {
		layers := []string{"conv:65536:1", name + ":65536:65536:s65536:p65535", "globalpool", "dense"}
		if s, err := Read(Shape{1, 1, 1}, layers, 2, SoftmaxCE); err == nil || !strings.Contains(err.Error(), "layer 2, "+layers[1]+": its 65536 kernels of 65536×65536×65536 have more parameters") {
			t.Errorf("%v: %d parameters, %v", layers, s.Params(), err)
		}
	}
}

// TestLipschitzRefusesALayerByName names the layer.
func TestLipschitzRefusesALayerByName(t *testing.T) {
	for _, tt := range []struct{ layers, want string }{
		{"conv:4:3 relu maxpool:2 flatten dense", ""},
		{"conv:4:3 groupnorm:2 relu dense", "layer 2, groupnorm:2, has no Lipschitz bound"},
		{"conv:4:3 relu skip relu add dense", "layer 3, skip, has no Lipschitz bound"},
		{"conv:4:3 gelu flatten dense", "layer 2, gelu, has no Lipschitz bound"},
		{strings.Repeat("relu ", 65) + "dense", "65 activations are more than the 64"},
	} {
		err := must(Read(Shape{8, 8, 1}, strings.Fields(tt.layers), 3, SoftmaxCE)).CheckLipschitz()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.layers, err, tt.want)
		}
	}
	if err := sequences[0].CheckLipschitz(); err == nil || !strings.Contains(err.Error(), "layer 1, embedding:4:5, has no Lipschitz bound") {
		t.Errorf("embedding: %v", err)
	}
}

// FuzzRead: whatever is written is either refused or a model whose parts agree.
func FuzzRead(f *testing.F) {
	f.Add("conv:16:8:s2:p3,relu,maxpool:2:s1,conv:32:4:s2,relu,maxpool:2:s1,flatten,dense:32,relu,dense", 28, 28, 1)
	f.Add("conv:4:3:p1,groupnorm:2,skip:6:s2,conv:6:3:s2:p1,tanh,add,globalpool,dense", 9, 5, 3)
	f.Add("embedding:27:8,conv:4:1,globalpool,dense", 0, 0, 5)
	f.Add("embedding:27:8,conv:4:1,mean,dense", 0, 0, 5)
	f.Add("skip,skip,bias,add,avgpool:2,add,dense", 0, 0, 5)
	f.Add("dense:65536,dense:65536", 0, 0, 65536)
	f.Add("conv:65536:1,conv:65536:65536:s65536:p65535,globalpool,dense", 1, 1, 1)
	f.Fuzz(func(t *testing.T, text string, h, w, c int) {
		in := Shape{h % 100, w % 100, c % 1000}
		if in.Height < 0 || in.Channels <= 0 || in.IsPicture() && in.Width <= 0 {
			return
		}
		s, err := Read(in, strings.Split(text, ","), 3, SoftmaxCE)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "nn: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		d := 0
		for i, l := range s.Layers {
			if l.Out.Len() <= 0 || l.Out.Len() > maxValues || l.Parameters < 0 || l.Products < 0 || l.Floats < 0 {
				t.Errorf("%q: layer %d is %+v", text, i+1, l)
			}
			own := 0.0
			for _, part := range l.Tensors {
				n := 1.0
				for _, size := range part.Shape {
					n *= float64(size)
				}
				own += n
			}
			if len(l.Tensors) > 0 && own != float64(l.Parameters) {
				t.Errorf("%q: layer %d has %g parameters in its tensors: %+v", text, i+1, own, l)
			}
			d += l.Parameters
		}
		if d != s.Params() || d > maxParams || s.Outputs() != 3 {
			t.Errorf("%q: %d parameters of %d, %d outputs", text, d, s.Params(), s.Outputs())
		}
	})
}

// TestReadIgnoresCapitals: layers are what they are in small letters, and are told in those.
func TestReadIgnoresCapitals(t *testing.T) {
	in := Shape{Channels: 1, Height: 8, Width: 8}
	small, err := Read(in, []string{"conv:2:3:s2:p1", "relu", "flatten", "dense"}, 3, SoftmaxCE)
	if err != nil {
		t.Fatal(err)
	}
	large, err := Read(in, []string{" Conv:2:3:S2:p1", "ReLU", "Flatten ", "DENSE"}, 3, SoftmaxCE)
	if err != nil || !reflect.DeepEqual(large, small) {
		t.Errorf("%+v, %v", large, err)
	}
}

// TestEveryLayerIsHeldToTheLaws: a layer of each name is in a model that the laws run on.
func TestEveryLayerIsHeldToTheLaws(t *testing.T) {
	held := map[string]bool{}
	for _, spec := range smallModels() {
		for _, l := range spec.Layers {
			name, _, _ := strings.Cut(l.Text, ":")
			held[name] = true
		}
	}
	for _, name := range LayerNames() {
		if !held[name] {
			t.Errorf("no model of smallModels has the layer %s", name)
		}
	}
}

// TestDropoutNeedsAnActivation, and takes memory behind every one, those in blocks too.
func TestDropoutNeedsAnActivation(t *testing.T) {
	in := Shape{Height: 7, Width: 7, Channels: 3}
	for layers, behind := range map[string]int64{"flatten dense": 0, "relu skip tanh conv:3:3:p1 add flatten dense:9 gelu dense": 147 + 147 + 9} {
		s, err := Read(in, strings.Fields(layers), 4, SoftmaxCE)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []float64{-0.1, 1, math.NaN(), math.Inf(1)} {
			if _, err := s.WithDropout(p); err == nil {
				t.Errorf("%s: dropout of %v is taken", layers, p)
			}
		}
		d, err := s.WithDropout(0.5)
		switch {
		case behind == 0 && err == nil:
			t.Errorf("%s: dropout without an activation", layers)
		case behind > 0 && (err != nil || d.Floats(1)-s.Floats(1) != behind):
			t.Errorf("%s: %d values more, want %d; %v", layers, d.Floats(1)-s.Floats(1), behind, err)
		}
	}
}
