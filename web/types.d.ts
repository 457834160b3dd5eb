// Types that scripts share, for the checker alone. Of what the trainer says
// (core/run), only what a script itself looks at.
import type uPlotClass from "uplot";

// --- from the trainer ---

export interface Plan { events: object; steps: number; private: boolean; tuning?: object }
export interface Result {
  steps: number;
  charged?: boolean;
  checks?: { ok: boolean }[];
  mistakes?: object[];
  answers?: object[];
  notes?: string[];
  planned_steps: number;
  statement?: { text: string; events?: unknown[] };
  config?: object; // of what is to be saved
  released: { parameters?: Float32Array; apply?: { layers: { tensors?: { name: string, shape: number[] }[] }[] }; max_grad_norm?: number[] };
  guarantee: string; epsilon: number; delta: number; accountant: string;
}
// Message is one from a worker, as wasm/worker/protocol.go has them.
export interface Message { type: string; id: number; text: string; step: number; parameters?: Float32Array; blob?: Blob }

// --- wire.js ---

export interface ClipscopeError extends Error { detail: any }

// --- ledger.js ---

// Ask puts a question to the trainer.
export type Ask = (type: string, body?: unknown) => Promise<any>;
// LedgerRecord is a run.Record: a script keeps it and reads no more of it than this.
export interface LedgerRecord { run: string; label?: string; names: string[]; done: number; salt?: string; entry: any }
export interface Limit { epsilon: number; delta: number }
// Identity is a run.Identity: what a data set is recognised by.
export interface Identity { id: string; names: string[]; marks: string[] }
// Salted is one with the salt that it was made with, and Identify makes one.
export type Salted = Identity & { salt: string };
export type Identify = (salt: string) => Promise<Identity>;
export interface Account { deleted?: string; records: LedgerRecord[]; data: Identity[]; names: string[]; marks: string[]; limit: Limit | null }
export interface Entering { run: string; identify: Identify; label: string | undefined; method: string | undefined; plan: Plan | undefined; anyway: boolean; ask: boolean }

// --- clipscope.js: docs/scripting.md says what it has ---

export interface Files { train: File[]; test: File[] }
// Invitation and Joining are a run.Invitation and a run.Joining: how parties get to a room.
export interface Invitation { room: string; secret: string }
export interface Joining extends Invitation { name: string }
export interface Source { data?: string; files?: Files; backbone?: { model: File[]; options: object } }

// --- charts.js ---

// Plot is a uPlot, Ink a colour of the stylesheet; Spec, Axis and Line are as ui/chart/plot.go writes them.
export type Plot = uPlotClass;
export type Ink = "released" | "diagnostic" | "second" | "third" | "lane1" | "lane2" | "lane3" | "lane4" | "lane5" | "lane6" | "text" | "muted" | "grid" | "surface";
export type Format = "percent" | "number" | "bound" | "epsilon";
export interface Axis { label: string; format: Format; log?: boolean; max?: number; hidden?: boolean; free?: boolean }
export interface Line { label: string; name?: string; ink: Ink; scale?: string; width?: number; points?: boolean; stepped?: boolean; mark?: string }
export interface Spec {
  kind: "lines" | "histogram"; x: Axis; y: Axis; series: Line[]; sync?: string;
  mark?: "vertical" | "horizontal"; markLabel?: string; side?: number; values?: "released" | "diagnostic";
}
export type Columns = import("uplot").AlignedData;
export type Ends = [number, number];
// Shown is what a chart shows beside its lines.
export interface Shown {
  start: number; end: number; mark: number; since: number; cover: number; tallest: number; heaviest: number; low: number; max: number; range: number;
  counts: Float64Array; noisy: Float64Array;
  changes: { line: number, step: number, text: string }[]; // of the runs, while they went on
}

// --- save.mjs: what can be saved of a chart ---

// Pen is a canvas's context, or one that writes SVG, which has paths of its own.
export type Pen = CanvasRenderingContext2D & { path?(): Path2D };
export interface Table { columns: string[]; rows: (string | number | null)[][] }
export interface Savable {
  released: boolean; // all of it is
  covered: boolean; // by a guarantee, what is released of it
  size(): { width: number; height: number };
  picture(g: Pen): void; // in CSS pixels
  legend(): { text: string; colour: string; dash?: number[] }[];
  table(diagnostic: boolean): Table; // without rows where nothing may be told
}

// --- lab.js ---

// LabLook and Boundary are of clipscope.lab, as far as they are drawn; the others as ui/lab writes them.
export interface LabLook { norms: number[]; along: number[]; across: number[] }
export interface Boundary { size: number; x: Ends; y: Ends; classes: number[]; share: number[]; rows: { x: number; y: number; label: number }[] }
export interface Placed { text: string; x: number; y: number; w: number; colour: Ink; bold: boolean } // a text of a board
export interface Mean { x: number; y: number; from?: Ends; off?: Ends; ink: Ink; label: string }
export interface PlaneSpec { lo: number; hi: number; reach: number; log: boolean; means: Mean[] }
export interface ULine { label: string; at: number; ink: Ink; width: number; dash?: number[]; sum?: boolean; x: number[]; y: number[] }
export interface Band { x: number[]; low: number[]; high: number[] }
export interface USpec {
  lo: number; hi: number; bottom: number; top: number; title: string; level: string;
  lines: ULine[]; path: number[]; least?: { c: number; y: number; label: string }; band?: Band;
}

// --- kernels.js ---

export type Kind = "relaxed" | "simd128" | "none";
// Started is a worker, or Node's.
export interface Started {
  onmessage: ((e: any) => void) | null;
  onerror: ((e: any) => void) | null;
  postMessage(data: unknown): void;
  terminate(): void;
}
export interface Kernels {
  bound: Kind;
  threads: number;
  alone: string;
  apart: string;
  least: number;
  choose(): Kind;
  spawn(text: string): Started;
  fair: boolean;
  useful: number;
  use(n: number): void;
  running: Int32Array | undefined;
  cores(): number;
  team(n: number, fair?: boolean): Promise<number>;
  share(n: number): number;
  imports: Record<string, (...args: any[]) => any>;
  id(name: string): number;
  load(compile: (name: string) => Promise<WebAssembly.Module>, kind?: Kind): Promise<Kind>;
  attach(instance: WebAssembly.Instance): void;
}
