package run

import (
	"fmt"
	"slices"
	"strings"
)

// Model is the architecture: a list of layers, or the name of one.
type Model struct {
	// Kind is softmax, linear or mlp, layers, or one of [Networks].
	Kind       string `json:"kind,omitempty"`
	Hidden     []int  `json:"hidden,omitempty"`     // mlp: widths of the hidden layers
	Activation string `json:"activation,omitempty"` // mlp: tanh (default) or relu
	// Layers, of the kind layers, are short texts such as conv:16:8:s2:p3; docs/scripting.md
	// has the table of them.
	Layers []string `json:"layers,omitempty"`
	// Dropout is the probability in [0, 1) with which a step drops each unit behind an activation, each row
	// by itself; those that stay are scaled by 1/(1−p). The trained model has all units.
	Dropout float64 `json:"dropout,omitempty"`
}

// dropUnused drops a list of layers where the kind is another: it has no effect, and a list
// that was refused would stand in links and files of the runs after it.
func (m *Model) dropUnused() {
	if m.Kind != "" && m.Kind != "layers" {
		m.Layers = nil
	}
}

// Network is a model that papers or libraries have.
type Network struct {
	Kind, Title, About string
	layers             []string
}

// List is the model's layers.
func (m Model) List() []string {
	switch m.Kind {
	case "softmax", "linear":
		return []string{"dense"}
	case "mlp":
		var all []string
		for _, w := range m.Hidden {
			all = append(all, fmt.Sprintf("dense:%d", w), m.Activation)
		}
		return append(all, "dense")
	case "layers":
		return m.Layers
	}
	for _, n := range networks {
		if n.Kind == m.Kind {
			return slices.Clone(n.layers)
		}
	}
	return nil
}

// Networks are all that a kind names.
func Networks() []Network { return slices.Clone(networks) }

var networks = []Network{
	{"cnn-opacus", "small convolutional network", "The network of Opacus’s MNIST example: two convolutions.",
		strings.Fields("conv:16:8:s2:p3 relu maxpool:2:s1 conv:32:4:s2 relu maxpool:2:s1 flatten dense:32 relu dense")},
	{"cnn-tb-mnist", "Tramèr & Boneh, MNIST", "The same with tanh, as Tramèr & Boneh 2021 have it for MNIST and Fashion-MNIST.",
		strings.Fields("conv:16:8:s2:p2 tanh maxpool:2:s1 conv:32:4:s2 tanh maxpool:2:s1 flatten dense:32 tanh dense")},
	{"cnn-tb-cifar", "Tramèr & Boneh, CIFAR-10", "Six convolutions with tanh, 550,570 parameters, for pictures of 32×32 in colour.",
		strings.Fields("conv:32:3:p1 tanh conv:32:3:p1 tanh maxpool:2 conv:64:3:p1 tanh conv:64:3:p1 tanh maxpool:2 conv:128:3:p1 tanh conv:128:3:p1 tanh maxpool:2 flatten dense:128 tanh dense")},
	{"cnn-dc", "DC-SGD’s small network", "Two convolutions and 28,058 parameters, which is all that DC-SGD says of its own.",
		strings.Fields("conv:8:5:s2:p1 tanh conv:16:4 tanh flatten dense:16 tanh dense")},
	{"resnet9", "ResNet-9", "Eight convolutions, two residual blocks, group normalisation: about 6.6 million parameters.", resnet9()},
	{"resnet18", "ResNet-18", "He et al. 2016 for small pictures, with group normalisation: about 11 million parameters.", resnet(2, 2, 2, 2)},
	{"resnet34", "ResNet-34", "Twice as deep: about 21 million parameters. It takes much memory and hours.", resnet(3, 4, 6, 3)},
	{Transformer, "transformer", "Two blocks of attention, for columns of letters or words in order: each place looks at all others of its row.", transformer(256)},
	{LSTM, "LSTM", "Cells that pass a row token by token and hold on to what they have seen, for columns of letters or words in order.", lstm(256)},
}

// Networks whose lists follow from the data: [Config.WithDefaultsFor] writes them out.
const (
	Transformer = "transformer"
	LSTM        = "lstm"
)

// ReadsTokens reports whether the model is a network of these.
func (m Model) ReadsTokens() bool { return m.Kind == Transformer || m.Kind == LSTM }

// ofTokens returns the list of a network that reads so many.
func (m Model) ofTokens(tokens int) []string {
	if m.Kind == LSTM {
		return lstm(tokens)
	}
	return transformer(tokens)
}

// lstm has one layer of cells for so many tokens.
func lstm(tokens int) []string {
	return []string{fmt.Sprintf("embedding:%d:16", tokens), "lstm:32", "mean", "dense"}
}

// transformer has two blocks for so many tokens (Vaswani et al. 2017; normalised first, as Xiong et al. 2020).
func transformer(tokens int) []string {
	block := strings.Fields("skip layernorm attention:2 add skip layernorm conv1d:32:1 gelu conv1d:16:1 add")
	return slices.Concat([]string{fmt.Sprintf("embedding:%d:16", tokens), "position"}, block, block, []string{"layernorm", "mean", "dense"})
}

// groups of a group normalisation, as De et al. 2022 have it.
const groups = 16

// normalised is a convolution of 3×3 with its normalisation.
func normalised(channels, stride int) []string {
	conv := fmt.Sprintf("conv:%d:3:p1", channels)
	if stride > 1 {
		conv = fmt.Sprintf("conv:%d:3:s%d:p1", channels, stride)
	}
	return []string{conv, fmt.Sprintf("groupnorm:%d", groups)}
}

// residual is a block of two convolutions.
func residual(skip string, channels, stride int) []string {
	return slices.Concat([]string{skip}, normalised(channels, stride), []string{"relu"}, normalised(channels, 1), []string{"add", "relu"})
}

// resnet has a stem for small pictures, and so many blocks of 64, 128, 256 and 512
// channels (He et al. 2016, with the skip's convolution where a block halves the
// picture, and no normalisation on it).
func resnet(blocks ...int) []string {
	all := append(normalised(64, 1), "relu")
	for stage, n := range blocks {
		channels := 64 << stage
		for i := range n {
			skip, stride := "skip", 1
			if stage > 0 && i == 0 {
				skip, stride = fmt.Sprintf("skip:%d:s2", channels), 2
			}
			all = append(all, residual(skip, channels, stride)...)
		}
	}
	return append(all, "globalpool", "dense")
}

func resnet9() []string {
	return slices.Concat(
		normalised(64, 1), []string{"relu"}, normalised(128, 1), []string{"relu", "maxpool:2"}, residual("skip", 128, 1),
		normalised(256, 1), []string{"relu", "maxpool:2"}, normalised(512, 1), []string{"relu", "maxpool:2"}, residual("skip", 512, 1),
		[]string{"globalpool", "dense"},
	)
}
