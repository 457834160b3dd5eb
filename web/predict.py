#!/usr/bin/env python3
"""Apply a model that Clipscope saved, with numpy and nothing else of it.

    python3 predict.py model.json rows.csv > answers.csv

    from predict import load
    model = load("model.json")  # or a safetensors file
    answers, outputs = model.predict(rows)
    answers, outputs = model.predict(np.stack([model.picture(pixels) for pixels in pictures]))

docs/applying.md says what is done here, step by step.
"""

from __future__ import annotations

import argparse
import base64
import csv
import datetime
import io
import json
import math
import os
import re
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TextIO, Union

import numpy as np

Cells = Sequence[str]
Answer = Union[str, float, "list[str]", "list[float]"]

_AT_ONCE = 32  # rows: windows of pictures take memory


class Predictions(NamedTuple):
    """What a model says of rows.

    An answer is a class, the labels that are on, or a number; outputs [rows, outputs]
    are the probabilities of the classes or labels, or the numbers.
    """

    answers: list[Answer]
    outputs: np.ndarray


def load(file: Union[str, os.PathLike[str], bytes]) -> Model:
    """Read a model: the path of a file, or its bytes, as JSON or safetensors."""
    if isinstance(file, bytes):
        content = file
    else:
        with open(file, "rb") as f:
            content = f.read()
    apply, parameters = _from_json(content) if content[:1] == b"{" else _from_tensors(content)
    if not apply:
        raise ValueError("This file has parameters, and not what it takes to apply them: it was saved by an earlier version. Train it again, from the configuration of its run, and save that.")
    for part in (apply["scaling"], apply.get("pca") or {}):
        if part.get("left_out"):
            raise ValueError(part["left_out"])
    return Model(apply, parameters)


def _from_json(content: bytes) -> tuple[dict[str, Any], np.ndarray]:
    def number(value: dict[str, Any]) -> Any:
        return float(value["$numberDouble"]) if "$numberDouble" in value else value

    model = json.loads(content, object_hook=number)
    return model.get("apply"), np.array(model.get("parameters") or [], dtype=np.float32)


def _from_tensors(content: bytes) -> tuple[dict[str, Any], np.ndarray]:
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    apply = json.loads(header.get("__metadata__", {}).get("apply", "null"))
    return apply, np.frombuffer(content, dtype="<f4", offset=8 + length)


class Model:
    """A model that was loaded."""

    def __init__(self, apply: dict[str, Any], parameters: np.ndarray) -> None:
        count = sum(layer["parameters"] for layer in apply["layers"])
        if count != len(parameters):
            raise ValueError(f"The file has {len(parameters)} parameters, and its layers take {count}.")
        self.apply = apply
        self.columns: list[dict[str, Any]] = apply.get("columns") or []
        self.classes: list[str] = apply.get("classes") or []
        self._parameters = parameters.astype(np.float64)
        directions = base64.b64decode((apply.get("pca") or {}).get("directions") or "")
        self._directions = np.frombuffer(directions, dtype="<f4").astype(np.float64)

    def predict(self, rows: Union[np.ndarray, Sequence[Union[Cells, Mapping[str, str]]]]) -> Predictions:
        """Answer rows.

        Rows are an array [rows, features] of numbers, such as pictures, or cells as
        texts, in the order of the columns or by their names.
        """
        if isinstance(rows, np.ndarray):
            x = rows.reshape(len(rows), math.prod(rows.shape[1:])).astype(np.float64)
        else:
            x = self.features(rows)
        parts = [self.outputs(x[i : i + _AT_ONCE]) for i in range(0, len(x), _AT_ONCE)]
        z = np.concatenate(parts) if parts else np.zeros((0, self.apply["outputs"]))
        task = self.apply["task"]
        if task == "regression":
            return Predictions([r[0] if len(r) == 1 else r for r in z.tolist()], z)
        if task == "multi-label":
            p = 1 / (1 + np.exp(-z))
            return Predictions([[self._name(k) for k in np.flatnonzero(r > 0.5)] for r in p], p)
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return Predictions([self._name(k) for k in z.argmax(axis=1)], e / e.sum(axis=1, keepdims=True))

    def _name(self, k: int) -> str:
        return self.classes[k] if self.classes else str(k)

    def features(self, rows: Sequence[Union[Cells, Mapping[str, str]]]) -> np.ndarray:
        """Say what becomes of the cells of rows: an array [rows, features]."""
        if backbone := self.apply.get("features_of"):
            raise ValueError(f"This model was trained on features: the output {backbone['output']} of the model whose file has the SHA-256 {backbone['sha256']}{', with the tokenizer whose file has ' + backbone['tokenizer_sha256'] if backbone.get('tokenizer_sha256') else ''}. Give what that makes of rows, as an array.")
        if not self.columns:
            raise ValueError("This model was trained on pictures or numbers, not on a table: give features as an array.")
        x = np.zeros((len(rows), self.apply["features"]))
        for row, into in zip(rows, x):
            for i, column in enumerate(self.columns):
                if isinstance(row, Mapping):
                    cell = row.get(column["name"], "")
                else:
                    cell = row[i] if i < len(row) else ""
                if not isinstance(cell, str):
                    raise ValueError(f'Column "{column["name"]}" has {cell!r}: give cells as texts.')
                _fill(into, column, cell.strip(_SPACE))
        return x

    def picture(self, pixels: np.ndarray) -> np.ndarray:
        """Bring an upright picture to the model's shape, as training did: its features.

        Pixels are bytes [height, width] of grey, or [height, width, 3 or 4] of red, green,
        blue and opacity.
        """
        shape, transform = self.apply.get("shape") or [], self.apply.get("transform") or "stretch"
        planes = shape[0] if len(shape) == 3 else 1
        if len(shape) < 2 or planes not in (1, 3):
            raise ValueError("This model was not trained on pictures.")
        if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or pixels.ndim == 3 and pixels.shape[2] not in (3, 4):
            raise ValueError(f"Pixels are {pixels.dtype} of {pixels.shape}: give bytes [height, width], or [height, width, 3 or 4].")
        seen = _unmixed(pixels.astype(np.int64), planes)
        (top, left, height, width), (y, x, down, across) = _placed(transform, pixels.shape[:2], shape[-2:])
        part = seen[:, top : top + height, left : left + width]
        part = (part @ _triangles(width, across).T + 8192) >> 14
        part = (_triangles(height, down) @ part + 8192) >> 14
        whole = np.zeros((planes, *shape[-2:]))
        whole[:, y : y + down, x : x + across] = part
        return whole.reshape(-1)

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """Say what the layers make of features [rows, features]."""
        a = self.apply
        if x.shape[1] != a["features"]:
            raise ValueError(f"A row has {x.shape[1]} features, and the model takes {a['features']}.")
        scaling, pca, shape = a["scaling"], a.get("pca"), a.get("shape") or []
        if scaling.get("lo"):
            lo, hi = np.array(scaling["lo"]), np.array(scaling["hi"])
            dense = a["features"] - sum(c["buckets"] for c in self.columns if c["kind"] == "text")
            # Texts have length 1 as they are.
            x = np.concatenate([np.clip((x[:, :dense] - lo) / (hi - lo), 0, 1), x[:, dense:]], axis=1)
        if scaling["kind"] == "row" or pca:
            length = np.linalg.norm(x, axis=1, keepdims=True)
            x = x / np.where(length > 0, length, 1)
        if a.get("max_norm"):
            x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / a["max_norm"])
        if pca:
            x = x @ self._directions.reshape(a["features"], pca["components"])
        elif len(shape) == 2:
            x = x.reshape(-1, *shape, 1)
        elif len(shape) == 3 and (a.get("channels_last") or shape[0] == 1):
            x = x.reshape(-1, *shape).transpose(0, 2, 3, 1)
        z = self._chain(x)
        if not np.isfinite(z).all():
            raise ValueError("The outputs are not finite numbers: the model's parameters, or the row's, are too large or none.")
        return z

    def _chain(self, x: np.ndarray) -> np.ndarray:
        """Take x [rows, values] or [rows, height, width, channels] through the layers."""
        around: list[np.ndarray] = []  # what goes around the blocks that x is in
        at = 0
        for layer in self.apply["layers"]:
            p = self._parameters[at : at + layer["parameters"]]
            at += layer["parameters"]
            name, *words = layer["layer"].strip().split(":")
            size = [int(w) for w in words if w[0].isdigit()]
            letter = {w[0]: int(w[1:]) for w in words if not w[0].isdigit()}
            if name == "relu":
                x = np.maximum(x, 0)
            elif name == "tanh":
                x = np.tanh(x)
            elif name == "gelu":
                x = x * _normal(x)
            elif name == "flatten":
                x = x.reshape(len(x), -1)
            elif name == "bias" or name == "position":
                x = x + p.reshape(x.shape[1:])
            elif name == "embedding":
                there = (x == np.floor(x)) & (x >= 0) & (x < size[0] * letter.get("t", 1))
                x = _embed(x, there, size[0], p.reshape(-1, size[1]))
            elif name == "attention":
                x = _attend(x, p, there, size[0])
            elif name == "lstm":
                x = _passed(x, p, there, size[0])
            elif name == "mean" or name == "first" or name == "last":
                x = _mean(x, there[:, : x.shape[1]], name)
            elif name == "conv1d":
                x = _convolve(x, p, size[0], (size[1], 1), 1, 0)
            elif name == "dense":
                x = x.reshape(len(x), -1)
                x = x @ p[: -layer["shape"][0]].reshape(x.shape[1], -1) + p[-layer["shape"][0] :]
            elif name == "conv":
                x = _convolve(x, p, size[0], (size[1], size[1]), letter.get("s", 1), letter.get("p", 0))
            elif name == "wsconv":
                x = _convolve(x, _standardised(p, size[0]), size[0], (size[1], size[1]), letter.get("s", 1), letter.get("p", 0))
            elif name == "maxpool":
                x = _windows(x, (size[0], size[0]), letter.get("s", size[0])).max(axis=(4, 5))
            elif name == "avgpool":
                x = _windows(x, (size[0], size[0]), letter.get("s", size[0])).mean(axis=(4, 5))
            elif name == "globalpool":
                x = x.mean(axis=(1, 2), keepdims=True)
            elif name == "groupnorm":
                x = _group_norm(x, p, size[0])
            elif name == "layernorm":
                x = _layer_norm(x, p, 10.0 ** -letter.get("e", 5))
            elif name == "skip":
                around.append(_convolve(x, p, size[0], (1, 1), letter.get("s", 1), 0) if size else x)
            elif name == "add":
                x = x + around.pop()
            else:
                raise ValueError(f'There is no layer "{name}" here: this file is older than the model.')
        return x.reshape(len(x), -1)


def _unmixed(pixels: np.ndarray, planes: int) -> np.ndarray:
    """Give a picture on white, [planes, height, width]."""
    if pixels.ndim == 2:
        return np.repeat(pixels[None], planes, axis=0)
    if pixels.shape[2] == 4:
        opacity = pixels[:, :, 3:]
        pixels = (pixels[:, :, :3] * 257 * opacity // 255 + 0xFFFF - 257 * opacity) >> 8
    if planes == 3:
        return pixels.transpose(2, 0, 1)
    return (pixels @ np.array([19595, 38470, 7471]) + 0x8000 >> 16)[None]


def _placed(transform: str, size: Sequence[int], frame: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Say which part of a picture is shown, and which part of the frame shows it: top, left, height, width."""

    def share(of: int, a: int, b: int) -> int:
        return max(1, (2 * of * a + b) // (2 * b))

    def middle(whole: Sequence[int], height: int, width: int) -> tuple[int, ...]:
        return (whole[0] - height) // 2, (whole[1] - width) // 2, height, width

    (h, w), (down, across) = size, frame
    wider = w * down > h * across
    part, shown = middle(size, h, w), middle(frame, down, across)
    if transform == "fit":
        shown = middle(frame, share(across, h, w), across) if wider else middle(frame, down, share(down, w, h))
    elif transform == "crop":
        part = middle(size, h, share(h, across, down)) if wider else middle(size, share(w, down, across), w)
    return part, shown


def _triangles(count: int, to: int) -> np.ndarray:
    """Weigh the pixels of a line for each pixel that is made of them [to, count]; 16384 make 1."""
    reach = 2 * max(count, to)
    centre, place = (2 * np.arange(to) + 1) * count, (2 * np.arange(count) + 1) * to
    parts = np.maximum(0, reach - np.abs(place[None, :] - centre[:, None]))
    weights = parts * 16384 // parts.sum(axis=1, keepdims=True)
    weights[np.arange(to), parts.argmax(axis=1)] += 16384 - weights.sum(axis=1)
    return weights


def _embed(x: np.ndarray, there: np.ndarray, tokens: int, table: np.ndarray) -> np.ndarray:
    """Give each token its row of the table, with that of its type, where tokens have types, and 0 what is none."""
    token = np.where(there, x, 0).astype(np.int64)
    y = table[token % tokens]
    if len(table) > tokens:
        y = y + table[tokens + token // tokens]
    return (there[:, :, None] * y)[:, :, None, :]


def _normal(x: np.ndarray) -> np.ndarray:
    """Give the normal distribution: NumPy has no error function."""
    return np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2, otypes=[float])(x)


def _attend(x: np.ndarray, p: np.ndarray, there: np.ndarray, heads: int) -> np.ndarray:
    """Have each place look at those that have a token."""
    rows, places, _, d = x.shape
    first = 3 * d * (d + 1)
    a = _convolve(x, p[:first], 3 * d, (1, 1), 1, 0).reshape(rows, places, 3, heads, -1).transpose(2, 0, 3, 1, 4)
    products = a[0] @ a[1].transpose(0, 1, 3, 2) / math.sqrt(d / heads)
    products = np.where(there[:, None, None, :], products, -1e300)
    shares = np.exp(products - products.max(axis=3, keepdims=True)) * there[:, None, None, :]
    shares /= np.maximum(shares.sum(axis=3, keepdims=True), 1e-300)
    seen = (shares @ a[2]).transpose(0, 2, 1, 3).reshape(x.shape)
    return _convolve(seen, p[first:], d, (1, 1), 1, 0)


def _passed(x: np.ndarray, p: np.ndarray, there: np.ndarray, cells: int) -> np.ndarray:
    """Give what cells show at each place. A place without a token leaves them as they were."""
    first = (x.shape[3] + 1) * 4 * cells
    a = _convolve(x, p[:first], 4 * cells, (1, 1), 1, 0)[:, :, 0]
    weights, bias = p[first : -4 * cells].reshape(cells, 4 * cells), p[-4 * cells :]
    held = seen = np.zeros((len(x), cells))
    shown = []
    for j in range(x.shape[1]):
        enter, forget, value, out = np.split(a[:, j] + seen @ weights + bias, 4, axis=1)
        holds = _sigmoid(forget) * held + _sigmoid(enter) * np.tanh(value)
        held = np.where(there[:, j, None], holds, held)
        seen = np.where(there[:, j, None], _sigmoid(out) * np.tanh(holds), seen)
        shown.append(seen)
    return np.stack(shown, axis=1)[:, :, None, :]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def _mean(x: np.ndarray, there: np.ndarray, which: str) -> np.ndarray:
    """Give the mean over the places that have a token, or what is at the first or last of these."""
    place = there.cumsum(axis=1)
    if which == "first":
        there = there & (place == 1)
    elif which == "last":
        there = there & (place == place[:, -1:])
    return (x[:, :, 0] * there[:, :, None]).sum(axis=1) / np.maximum(there.sum(axis=1), 1)[:, None]


def _windows(x: np.ndarray, size: tuple[int, int], stride: int) -> np.ndarray:
    """Give what windows see: [rows, height, width, channels, high, wide]."""
    return np.lib.stride_tricks.sliding_window_view(x, size, axis=(1, 2))[:, ::stride, ::stride]


def _convolve(x: np.ndarray, p: np.ndarray, channels: int, size: tuple[int, int], stride: int, pad: int) -> np.ndarray:
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    w = p[:-channels].reshape(*size, x.shape[3], channels)
    return np.tensordot(_windows(x, size, stride), w, axes=((4, 5, 3), (0, 1, 2))) + p[-channels:]


def _standardised(p: np.ndarray, channels: int) -> np.ndarray:
    """Give weights of mean 0 and length 1 for each channel, and the biases."""
    w = p[:-channels].reshape(-1, channels)
    w = (w - w.mean(axis=0)) / np.sqrt((w.var(axis=0) + 1e-5) * len(w))
    return np.concatenate([w.ravel(), p[-channels:]])


def _group_norm(x: np.ndarray, p: np.ndarray, groups: int) -> np.ndarray:
    rows, height, width, channels = x.shape
    g = x.reshape(rows, height, width, groups, -1)
    g = (g - g.mean(axis=(1, 2, 4), keepdims=True)) / np.sqrt(g.var(axis=(1, 2, 4), keepdims=True) + 1e-5)
    return g.reshape(x.shape) * p[:channels] + p[channels:]


def _layer_norm(x: np.ndarray, p: np.ndarray, epsilon: float) -> np.ndarray:
    channels = x.shape[3]
    x = (x - x.mean(axis=3, keepdims=True)) / np.sqrt(x.var(axis=3, keepdims=True) + epsilon)
    return x * p[:channels] + p[channels:]


# --- cells ---

# What Unicode calls space.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_CURRENCY = r"[$€£¥₹]|CHF|EUR|USD|GBP|kr\.|kr|Kr|Fr\."
_ABSENT = {"", "?", "na", "nan", "-nan", "n/a", "<na>", "null", "n.a.", "k.a.", "k. a.", "k.\u00a0a.", "k.\u202fa.", "n/d"}
_EXACTLY = {"\\N", "NaT", "#N/A", "#NV", "#REF!", "#NUM!", "#DIV/0!", "#NAME?", "#VALUE!", "#NULL!"}

# Missing in a column of numbers alone.
_NO_NUMBER = {
    "none", "missing", "unknown", "not available", "unbekannt", "fehlt", "n.b.", "n. b.", "n.v.", "n. v.",
    "-", "--", ".", "..", "…", "–", "—",
}


def _missing(cell: str) -> bool:
    return cell.lower() in _ABSENT or cell in _EXACTLY


def _fill(x: np.ndarray, column: Mapping[str, Any], cell: str) -> None:
    """Put a cell's features into those of its row."""
    name, kind, first = column["name"], column["kind"], column["first"]
    gone = _missing(cell) or (kind == "numeric" and cell.lower() in _NO_NUMBER)
    if kind == "numeric" and gone:
        if column.get("if_missing") is None:
            raise ValueError(f'Column "{name}" is missing, and there were no such rows in training.')
        x[first] = np.float32(column["if_missing"] - column.get("offset", 0))
        if column.get("indicator"):
            x[column["indicator"]] = 1
    elif kind == "numeric":
        value = _value(cell, column)
        with np.errstate(over="ignore"):
            finite = np.isfinite(np.float32(value))
            x[first] = np.float32(value - column.get("offset", 0))
        if not finite:
            what = "date" if column.get("date") else f"time ({column['time']})" if column.get("time") else "number"
            raise ValueError(f'Column "{name}" has "{cell}", which is no {what}{"" if math.isnan(value) else " below 3.4e38"}.')
        if column.get("clock"):
            x[column["clock"]] = np.float32(value - math.floor(value))
    elif kind == "text":
        for bucket, value in {} if gone else _hashed_words(cell, column["buckets"]).items():
            x[first + bucket] = value
    elif kind in ("letters", "words"):
        tokens = [] if gone else _letter_tokens(cell) if kind == "letters" else _word_tokens(cell, column["buckets"])
        x[first : first + column["tokens"]] = -1
        x[first : first + min(len(tokens), column["tokens"])] = tokens[: column["tokens"]]
    elif kind == "categorical":
        categories = column.get("categories") or []
        if not gone and column.get("buckets"):
            x[first + _hash(cell) % column["buckets"]] = 1
        # A model may be from before the cell was a word for a missing one.
        elif (said := "(missing)" if gone and cell not in categories else cell) in categories:
            x[first + categories.index(said)] = 1


# Other names of a unit.
_SIGNS = {"EUR": "€", "GBP": "£", "Fr.": "CHF", "kr.": "kr", "Kr": "kr"}

# How many times of a kind are in a day; yyyymmdd is none of them.
_PER_DAY = {"s": 86_400, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


def _value(cell: str, column: Mapping[str, Any]) -> float:
    """Give the number that a cell says, or NaN.

    Of per cent it is a hundredth, of a date or a time the days since 1970 began. A unit
    that no training cell had is an error.
    """
    if order := column.get("date"):
        return _days(cell, order)
    value, currency, per_cent = _number(cell, column)
    if not abs(value) < 3.5e38:
        return value
    units = column.get("units")
    if column.get("time"):
        value = _instant(value, column["time"])
    elif units and per_cent:
        value /= 100
    unit = currency or ("%" if per_cent else "")
    if math.isnan(value) or not units or unit in units or (unit == "%" and "" in units):
        return value
    had = " or ".join(f'"{u}"' if u else "no unit" for u in units)
    raise ValueError(f'Column "{column["name"]}" has "{cell}"{"" if unit else ", without a unit"}: its training cells had {had}. Write it so.')


def _instant(value: float, kind: str) -> float:
    """Give an integer of a kind of times in days since 1970 began, or NaN."""
    if n := _PER_DAY.get(kind):
        return value / n
    if value != math.floor(value) or not 0 <= value < 1e8:
        return math.nan
    text = f"{int(value):08}"
    return _days(f"{text[:4]}-{text[4:6]}-{text[6:]}", "ymd")


def _number(cell: str, column: Mapping[str, Any]) -> tuple[float, str, bool]:
    """Give what a cell says or NaN, the sign of its currency, and whether it is per cent.

    One in parentheses, or with decimals and a minus behind, is negative.
    """
    s, currency, per_cent = cell, "", False
    if not s.isascii() or re.search("[$%(]|[a-df-zA-DF-Z]|-$", s):
        s = re.sub("[\u00a0\u2007\u2009\u202f]", " ", s).replace("−", "-").replace("’", "'")
        below = re.fullmatch(r"\((.*)\)", s, re.DOTALL) or re.fullmatch("(.*[.,].*[0-9])-", s, re.DOTALL)
        inner = below[1].strip(_SPACE) if below else ""
        if inner and inner[0] not in "+-" and inner[-1] not in "+-":
            s = "-" + inner
        rest = s.lstrip("+-")
        sign = s[: len(s) - len(rest)]
        bare = re.sub(f"^(?:{_CURRENCY})", "", rest)
        currency = rest[: len(rest) - len(bare)]
        if bare == rest:
            bare = re.sub(rf"(?:{_CURRENCY})\Z", "", rest)
            currency = rest[len(bare) :]
        per_cent = bare.endswith("%")
        s = sign + bare.removesuffix("%").strip(_SPACE)
    currency = _SIGNS.get(currency, currency)
    thousands, decimal = column.get("thousands") or "", column.get("decimal") or "."
    point = re.escape(decimal)
    lakhs = "|[1-9][0-9]?(?:,[0-9]{2})*,[0-9]{3}" if thousands == "," else ""  # as in India
    whole = f"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+{lakhs})" if thousands else "[0-9]+"
    if not re.fullmatch(f"[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?", s):
        return math.nan, currency, per_cent
    return float((s.replace(thousands, "") if thousands else s).replace(decimal, ".", 1)), currency, per_cent


_DATE = re.compile(
    r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})"
    r"(?:[T ]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:[.,][0-9]+)?)(?: ?(Z|[+-][0-9]{2}(?::?[0-9]{2})?))?)?(?: ?([AaPp])[Mm])?)?"
)


def _days(cell: str, order: str) -> float:
    """Give the days since 1970 began, or NaN."""
    m = _DATE.fullmatch(cell)
    if not m or (m[2] == "." and order == "mdy"):
        return math.nan
    of = {letter: m[i] for letter, i in zip(order, (1, 3, 4))}
    # A year of two digits, at the end, is one of 1969 to 2068.
    short = len(of["y"]) == 2 and order != "ymd" and (m[2] == "/" or len(of["m"]) + len(of["d"]) == 4)
    if len(of["y"]) != 4 and not short or len(of["m"]) > 2 or len(of["d"]) > 2:
        return math.nan
    year = int(of["y"]) + ((1900 if int(of["y"]) >= 69 else 2000) if short else 0)
    try:
        days = datetime.date(year, int(of["m"]), int(of["d"])).toordinal() - datetime.date(1970, 1, 1).toordinal()
    except ValueError:
        return math.nan
    hours, minutes, seconds = int(m[5] or 0), int(m[6] or 0), float((m[7] or "0").replace(",", "."))
    zone_hours, zone_minutes = (int(m[8][1:3]), int(m[8][3:].lstrip(":") or 0)) if m[8] and m[8] != "Z" else (0, 0)
    if m[9]:
        if m[8] or not 1 <= hours <= 12:
            return math.nan
        hours = hours % 12 + (12 if m[9] in "Pp" else 0)
    if hours > 23 or minutes > 59 or seconds >= 60 or zone_hours > 24 or zone_minutes > 60:
        return math.nan
    zone = (-60 if m[8] and m[8][0] == "-" else 60) * (60 * zone_hours + zone_minutes)
    return (days * 86400 + (60 * hours + minutes) * 60 + seconds - zone) / 86400


def _hash(cell: str) -> int:
    """Hash as FNV-1a of 32 bits does."""
    return _hashed(2166136261, cell.encode())


def _hashed(h: int, content: bytes) -> int:
    """Go on with a hash."""
    for b in content:
        h = (h ^ b) * 16777619 & 0xFFFFFFFF
    return h


# --- texts ---


def _hashed_words(text: str, buckets: int) -> dict[int, np.float32]:
    """Give the features of a text that are not 0, by bucket.

    Its parts are in three groups: its words, pairs of neighbours, and characters 3 to 5
    within a word between marks. A part that comes n times adds 1 + the whole part of
    log2(n), or as much less, to the bucket that its hash names, by the hash's topmost
    bit. Each group is divided by its length, and so is their sum.
    """
    groups: tuple[dict[int, int], ...] = ({}, {}, {})
    begun = _hash("c")
    words = _words(text)
    for i, word in enumerate(words):
        hashes = [(0, _hash("w" + word))]
        if i > 0:
            hashes.append((1, _hash("p" + words[i - 1] + " " + word)))
        marked = [c.encode() for c in f"<{word}>"]
        for start in range(len(marked) - 2):
            h = begun
            for n, c in enumerate(marked[start : start + 5], 1):
                h = _hashed(h, c)
                if n >= 3:
                    hashes.append((2, h))
        for group, h in hashes:
            h = _mixed(h)
            groups[group][h] = groups[group].get(h, 0) + 1
    values: dict[int, float] = {}
    for times in groups:
        sums: dict[int, int] = {}
        for h, n in times.items():
            sums[h % buckets] = sums.get(h % buckets, 0) + (-1 if h >> 31 else 1) * n.bit_length()
        length = math.sqrt(sum(v * v for v in sums.values()))
        for bucket, v in sums.items():
            if v:
                values[bucket] = values.get(bucket, 0.0) + v / length
    square = 0.0
    for bucket in sorted(values):  # in order, as rounding has one; sum() would make up for it
        square += values[bucket] * values[bucket]
    length = math.sqrt(square)
    return {bucket: np.float32(v / length) for bucket, v in values.items() if v}


def _mixed(h: int) -> int:
    """Spread a hash over all of its bits."""
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def _word_tokens(text: str, tokens: int) -> list[int]:
    return [_mixed(_hash("w" + word)) % tokens for word in _words(text)]


def _letter_tokens(text: str) -> list[int]:
    """Give the characters in lower case: those below 128 themselves, others hashed to 128 more."""
    letters = (0xFFFD if 0xD800 <= ord(c) <= 0xDFFF else _lower(ord(c)) for c in text)
    return [r if r < 128 else 128 + _mixed(_hash("l" + chr(r))) % 128 for r in letters]


def _words(text: str) -> list[str]:
    """Cut a text into words in lower case: runs of letters and digits, and ideographs and kana one by one."""
    words, word = [], ""
    for c in text:
        r = _lower(ord(c))
        in_word = 0x61 <= r <= 0x7A or 0x30 <= r <= 0x39 or (r >= 0xAA and not _within(r, _NO_WORD))
        alone = r >= 0x3040 and _within(r, _ALONE)
        if (not in_word or alone) and word:
            words.append(word)
            word = ""
        if alone and in_word:
            words.append(chr(r))
        elif in_word:
            word += chr(r)
    return [*words, word] if word else words


def _lower(r: int) -> int:
    """Give the small letter of a capital of Latin, Greek or Cyrillic."""
    if 0x41 <= r <= 0x5A or (0xC0 <= r <= 0xDE and r != 0xD7) or 0x391 <= r <= 0x3A9 or 0x410 <= r <= 0x42F:
        return r + 32
    if 0x400 <= r <= 0x40F:
        return r + 80
    if 0x100 <= r <= 0x137 or 0x14A <= r <= 0x177:
        return r | 1
    return r + (r & 1) if 0x139 <= r <= 0x148 or 0x179 <= r <= 0x17E else r


def _within(r: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= r <= last for first, last in ranges)


# Ranges above U+00AA that no word has: punctuation, spaces, halves of pairs.
_NO_WORD = (
    (0xAB, 0xB4), (0xB6, 0xB9), (0xBB, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x37E, 0x37E), (0x387, 0x387), (0x55A, 0x55F), (0x589, 0x58A), (0x5BE, 0x5BE),
    (0x60C, 0x60D), (0x61B, 0x61F), (0x66A, 0x66D), (0x6D4, 0x6D4), (0x964, 0x965), (0x1680, 0x1680), (0x2000, 0x206F),
    (0x2E00, 0x2E7F), (0x3000, 0x3004), (0x3008, 0x3020), (0x3030, 0x3030), (0x30FB, 0x30FB), (0xD800, 0xDFFF), (0xFE00, 0xFE6F), (0xFEFF, 0xFF0F),
    (0xFF1A, 0xFF20), (0xFF3B, 0xFF40), (0xFF5B, 0xFF65), (0xFFE0, 0xFFFF),
)  # fmt: skip
# Ideographs and kana.
_ALONE = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


# --- from a command line ---


def _table(text: str) -> Iterator[list[str]]:
    """Cut a text into rows of cells, with the mark between them that the first line has most of."""
    text = text.replace("\r\n", "\n")  # within quotes, too
    quoted = '"(?:[^"]|"")*"'
    head = re.sub(quoted, "", re.match(f"(?:{quoted}|[^\n])*", text[: 1 << 16])[0])
    mark = max(",;\t", key=head.count)
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    return (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True, strict=True) if row)


def answers(model: Model, text: str, to: TextIO) -> None:
    """Write a table with an answer for each row of another, whose first row names its columns."""
    try:
        names, *rows = list(_table(text.removeprefix("\ufeff"))) or [[]]
    except csv.Error as e:
        raise ValueError(f"The table cannot be read: {e}.") from e
    places = {name.strip(_SPACE): i for i, name in enumerate(names)}
    if len(places) < len(names):
        raise ValueError(f"The table has two columns of one name: {', '.join(names)}.")
    for column in model.columns:
        if column["kind"] in ("numeric", "categorical", "text", "letters", "words") and column["name"] not in places:
            raise ValueError(f'There is no column "{column["name"]}" in the table: it has {", ".join(names)}.')
    out = csv.writer(to, lineterminator="\n")
    out.writerow(["answer", *(f"p({name})" for name in model.classes)])
    features = []
    for i, row in enumerate(rows):
        try:
            if len(row) != len(names):
                raise ValueError(f"It has {len(row)} cells, and the first row has {len(names)}.")
            features.append(model.features([{name: row[k] for name, k in places.items()}])[0])
        except ValueError as e:
            raise ValueError(f"Row {i + 2}: {e}") from e
    said = model.predict(np.array(features).reshape(len(features), model.apply["features"]))
    for answer, outputs in zip(said.answers, said.outputs):
        shown = " ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        out.writerow([shown, *(f"{p:#.6g}" for p in outputs if model.classes)])


def main() -> None:
    """Do what is done where this file is the program."""
    parser = argparse.ArgumentParser(description="Apply a model that Clipscope saved.", epilog="The answers are written as CSV.")
    parser.add_argument("model", help="model.json or model.safetensors")
    parser.add_argument("rows", help="a table whose first line has the names of the columns")
    args = parser.parse_args()
    try:
        with open(args.rows, encoding="utf-8-sig", newline="") as f:
            try:
                text = f.read()
            except UnicodeDecodeError as e:
                raise ValueError("The table is not in UTF-8: save it as CSV in UTF-8, or give it to the page, which reads others.") from e
        answers(load(args.model), text, sys.stdout)
    except (OSError, ValueError) as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
