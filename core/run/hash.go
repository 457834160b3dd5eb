package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// Hash is the configuration as a URL fragment without the '#': key=value pairs
// joined by '&', nested fields with a dot (model.kind=mlp), lists with commas.
// It never holds data.
func (c Config) Hash() (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("run: hash: %w", err)
	}
	tree, err := decodeTree(b)
	if err != nil {
		return "", fmt.Errorf("run: hash: %w", err)
	}
	var pairs []string
	flatten("", tree, &pairs)
	sort.Strings(pairs)
	return strings.Join(pairs, "&"), nil
}

// decodeTree keeps numbers as they are written: a seed needs all its 64 bits.
func decodeTree(b []byte) (tree map[string]any, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err = dec.Decode(&tree)
	return tree, err
}

func flatten(prefix string, tree map[string]any, pairs *[]string) {
	for key, v := range tree {
		key = prefix + url.QueryEscape(key)
		switch v := v.(type) {
		case map[string]any:
			flatten(key+".", v, pairs)
		case []any:
			items := make([]string, len(v))
			for i, item := range v {
				items[i] = url.QueryEscape(fmt.Sprint(item))
			}
			*pairs = append(*pairs, key+"="+strings.Join(items, ","))
		default:
			*pairs = append(*pairs, key+"="+url.QueryEscape(fmt.Sprint(v)))
		}
	}
}

// maxHash is far longer than any configuration; it bounds the work of a hostile link.
const maxHash = 4096

// ParseHash reads what Hash wrote, with or without the '#'. Keys it does not
// know and values that do not fit their key are ignored, so that links survive
// other versions of the page; a key with a number that is no field is kept as a
// parameter of the method.
func ParseHash(s string) Config {
	var c Config
	s = s[:min(len(s), maxHash)]
	for pair := range strings.SplitSeq(strings.TrimPrefix(s, "#"), "&") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		if trial, err := set(c, key, value); err == nil {
			c = trial
		}
	}
	return c
}

// set returns c with one key of a hash applied, by way of JSON so that there is
// one list of fields only.
func set(c Config, key, value string) (Config, error) {
	path := strings.Split(key, ".")
	for i := range path {
		name, err := url.QueryUnescape(path[i])
		if err != nil {
			return c, err
		}
		path[i] = name
	}
	b, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	tree, err := decodeTree(b)
	if err != nil {
		return c, err
	}
	for _, candidate := range readings(value) {
		var next Config
		put(tree, path, candidate)
		b, err := json.Marshal(tree)
		if err != nil {
			continue
		}
		if err = json.Unmarshal(b, &next); err == nil {
			return next, nil
		}
	}
	return c, fmt.Errorf("run: %q does not fit %q", value, key)
}

// readings are the JSON values that a hash's text may stand for, best first.
func readings(value string) []any {
	var items []any
	for item := range strings.SplitSeq(value, ",") {
		if n, err := strconv.ParseInt(item, 10, 64); err == nil {
			items = append(items, n)
		}
	}
	var all []any
	text, err := url.QueryUnescape(value)
	if err != nil {
		return nil
	}
	if json.Valid([]byte(text)) {
		all = append(all, json.RawMessage(text))
	}
	all = append(all, text)
	if yes, err := strconv.ParseBool(text); err == nil { // as people write it: 1, TRUE
		all = append(all, yes)
	}
	return append(all, items)
}

func put(tree map[string]any, path []string, v any) {
	for _, key := range path[:len(path)-1] {
		sub, ok := tree[key].(map[string]any)
		if !ok {
			sub = map[string]any{}
			tree[key] = sub
		}
		tree = sub
	}
	tree[path[len(path)-1]] = v
}
