// Lists the libraries that are built into ONNX Runtime Web's files. Its npm packages do not name them.

/** @typedef {import("./parts.mjs").Part} Part */

// found is the version of ONNX Runtime Web that the list describes.
const found = "1.30.0";

// Versions are from cmake/deps.txt in two states of ONNX Runtime's sources: one of the time of 1.29.0 and
// a later one. They agree on all libraries but one. 1.30.0's own list was not at hand. Where the files
// themselves show a library or its version, known says how.
const listed = "cmake/deps.txt in two states of ONNX Runtime's sources near this version";
const named = `${listed}; source files' names in ort.wasm`;
const WASM = ["web/ort/ort.wasm"];

const google = "Copyright 2008 Google Inc. All rights reserved. For the name in the third condition read Google Inc.";

/** @type {(Omit<Part, "purl" | "files" | "source"> & { at: string, ref?: string, files?: string[] })[]} */
const all = [
  { name: "Abseil", version: "20250814.0", licence: "Apache-2.0", copyright: "Copyright The Abseil Authors.", at: "github.com/abseil/abseil-cpp", known: named },
  { name: "ONNX", version: "1.21.0", ref: "v1.21.0", licence: "Apache-2.0", copyright: "Copyright (c) ONNX Project Contributors.",
    at: "github.com/onnx/onnx", known: `${named}; 26 is the last operator set that it takes for released` },
  { name: "Protocol Buffers", version: "21.12", ref: "v21.12", licence: "BSD-3-Clause", copyright: google, at: "github.com/protocolbuffers/protobuf", known: named },
  { name: "RE2", version: "2024-07-02", licence: "BSD-3-Clause",
    copyright: "Copyright (c) 2009 The RE2 Authors. All rights reserved. For the name in the third condition read Google Inc.",
    at: "github.com/google/re2", known: named },
  { name: "Eigen", version: "3.4.0+1d8b82b0740839c0de7f1242a3585e3390ff5f33", ref: "1d8b82b0740839c0de7f1242a3585e3390ff5f33",
    licence: "MPL-2.0",
    copyright: "Copyright the authors of Eigen, who are named in its files. ONNX Runtime's EigenNonBlockingThreadPool.h is made of it, too.",
    at: "github.com/eigen-mirror/eigen", known: `${listed}; types' names in ort.wasm` },
  { name: "JSON for Modern C++", version: "3.11.3", ref: "v3.11.3", licence: "MIT", copyright: "Copyright (c) 2013-2023 Niels Lohmann.",
    at: "github.com/nlohmann/json", known: "types' names in ort.wasm, which have the version; cmake/deps.txt" },
  { name: "Guidelines Support Library", licence: "MIT", copyright: "Copyright (c) 2015 Microsoft Corporation. All rights reserved.",
    at: "github.com/microsoft/GSL",
    known: "types' names in ort.wasm, which tell no version; cmake/deps.txt has 4.0.0 in the earlier state and 4.2.1 in the later" },
  { name: "FlatBuffers", version: "23.5.26", ref: "v23.5.26", licence: "Apache-2.0", copyright: "Copyright Google Inc. All rights reserved.",
    at: "github.com/google/flatbuffers", known: `${listed}; ONNX Runtime's files that use it are named in ort.wasm` },
  { name: "SafeInt", version: "3.0.28", licence: "MIT", copyright: "Copyright (c) Microsoft Corporation. All rights reserved.",
    at: "github.com/dcleblanc/SafeInt", known: `${listed}; types' names in ort.wasm` },
  { name: "date", version: "3.0.1", ref: "v3.0.1", licence: "MIT",
    copyright: "Copyright (c) 2015-2019 Howard Hinnant and others, who are named in its files.", at: "github.com/HowardHinnant/date",
    known: listed },
  { name: "Boost.Mp11", version: "1.82.0", ref: "boost-1.82.0", licence: "BSL-1.0",
    copyright: "Copyright Peter Dimov and others, who are named in its files.", at: "github.com/boostorg/mp11", known: listed },
  { name: "Emscripten, with dlmalloc", licence: "MIT",
    copyright: "Copyright (c) 2010-2014 Emscripten authors. dlmalloc is Doug Lea's, who placed it in the public domain.",
    at: "github.com/emscripten-core/emscripten", files: [...WASM, "web/ort/ort.js"],
    known: "the form of ort.js and ort.wasm, which tell no version" },
  { name: "musl", licence: "MIT", copyright: "Copyright (c) 2005-2020 Rich Felker, et al.", at: "git.musl-libc.org/cgit/musl", known: "Emscripten, whose C library it is" },
  { name: "LLVM's libc++, libc++abi and compiler-rt", licence: "Apache-2.0 WITH LLVM-exception",
    copyright: "By the LLVM Project's contributors. The exception: https://llvm.org/LICENSE.txt", at: "github.com/llvm/llvm-project",
    known: "Emscripten, whose C++ library they are; names in ort.wasm" },
];

// builds returns the libraries inside a version of ONNX Runtime Web, and throws for one that is not listed.
/** @param {string} version @returns {Part[]} */
export function builds(version) {
  if (version !== found) throw new Error(`onnxruntime.mjs lists the libraries of ONNX Runtime Web ${found}, and this is ${version}: compare its cmake/deps.txt, and correct the list`);
  return all.map(({ at, ref, files = WASM, ...p }) => {
    const [host, owner, name] = at.split("/"), tag = ref ?? p.version, hosted = host === "github.com";
    const purl = `pkg:${hosted ? "github" : "generic"}/${hosted ? `${owner}/${name}`.toLowerCase() : name}${tag ? `@${tag}` : ""}`;
    return { ...p, purl, files, source: `https://${at}${hosted && tag ? `/tree/${tag}` : ""}` };
  });
}
