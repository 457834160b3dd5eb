// What the page's scripts share, for the checker alone. Of what the trainer says
// (core/run), only what a script itself looks at.

import type uPlotClass from "uplot";

declare global {
  // --- from the trainer ---

  interface Plan { events: object; steps: number; private: boolean; tuning?: object }
  interface Result {
    steps: number;
    charged?: boolean;
    checks?: { ok: boolean }[];
    mistakes?: object[];
    notes?: string[];
    planned_steps: number;
    statement?: { text: string; events?: unknown[] };
    config?: object; // of what is to be saved
    released: { parameters?: Float32Array; apply?: { layers: { tensors?: { name: string, shape: number[] }[] }[] }; max_grad_norm?: number[] };
    guarantee: string; epsilon: number; delta: number; accountant: string;
  }
  // Message is one from a worker, as wasm/worker/protocol.go has them.
  interface Message { type: string; id: number; text: string; step: number; parameters?: Float32Array; blob?: Blob }

  // --- wire.js ---

  interface ClipscopeError extends Error { detail: any }
  var clipscopeWire: Readonly<{
    say(v: unknown, indent?: number): string;
    hear(text: string): any;
    fail(message: string, detail?: object): ClipscopeError;
  }>;

  // --- store.js ---

  interface Store {
    transact(mode: IDBTransactionMode, f: (...parts: IDBObjectStore[]) => IDBRequest | void): Promise<any>;
    broken(done: string, e: Error | null | undefined): ClipscopeError;
    changed(): void;
    on(fn: () => void): () => boolean;
    onDeleted(fn: () => void): () => boolean;
  }
  var clipscopeStore: Readonly<{
    Store: new (name: string, title: string, detail: object, stores: Record<string, IDBObjectStoreParameters>, renewed?: (...parts: IDBObjectStore[]) => void) => Store;
    PATIENCE: number;
  }>;

  // --- runs.js ---

  var clipscopeRuns: object;

  // --- ledger.js ---

  // Ask puts a question to the trainer.
  type Ask = (type: string, body?: unknown) => Promise<any>;
  // LedgerRecord is a run.Record: a script keeps it and reads no more of it than this.
  interface LedgerRecord { run: string; label?: string; names: string[]; done: number; salt?: string; entry: any }
  interface Limit { epsilon: number; delta: number }
  // Identity is a run.Identity: what a data set is recognised by.
  interface Identity { id: string; names: string[]; marks: string[] }
  // Salted is one with the salt that it was made with, and Identify makes one.
  type Salted = Identity & { salt: string };
  type Identify = (salt: string) => Promise<Identity>;
  interface Account { deleted?: string; records: LedgerRecord[]; data: Identity[]; names: string[]; marks: string[]; limit: Limit | null }
  interface Entering { run: string; identify: Identify; label: string | undefined; plan: Plan | undefined; anyway: boolean; ask: boolean }
  interface Book {
    readonly names: string[];
    progress(step: number): void;
    close(done: number, unreleased: boolean, doubtful?: boolean, ended?: boolean): Promise<void>;
  }
  interface Ledger {
    salt(): Promise<string>;
    account(of: Pick<Identity, "names">): Promise<Account>;
    spent(of: Identity, next?: object): Promise<{ runs: string[]; unknown?: string[] }>;
    identified(identify: Identify): Promise<Salted>;
    restore(records: LedgerRecord[]): Promise<void>;
    recognise(identify: (salt: string) => Promise<Identity>): Promise<object[]>;
    entries(): Promise<({ run: string; closed: boolean })[]>;
    checked(limit: Limit): Promise<Limit>;
    enter(e: Entering): Promise<Book>;
    find(run: string): Promise<LedgerRecord | undefined>;
    reopen(record: LedgerRecord, plan: Plan | undefined, identify: Identify): Promise<Book>;
    abandon(run: string): Promise<void>;
  }
  var clipscopeLedger: {
    Ledger: new (ask: Ask) => Ledger;
    surface(ledger: Ledger, identityOf: (data: unknown, tested: boolean) => Promise<Identity>, discard: (run: string) => Promise<unknown>): object;
    random(bytes: number): string;
  };

  // --- clipscope.js: docs/scripting.md says what it has ---

  var clipscope: any;
  interface Files { train: File[]; test: File[] }
  interface Source { data?: string; files?: Files; backbone?: { file: File; options: object } }

  // --- charts.js ---

  var clipscopeUI: any;
  var clipscopeUse: object;
  var uPlot: typeof uPlotClass;
  // Plot is a uPlot, Ink a colour of the stylesheet; Spec, Axis and Line are as ui/chart.go writes them.
  type Plot = uPlotClass;
  type Ink = "released" | "diagnostic" | "second" | "third" | "lane1" | "lane2" | "lane3" | "lane4" | "lane5" | "lane6" | "text" | "muted" | "grid" | "surface";
  type Format = "percent" | "number" | "bound" | "epsilon";
  interface Axis { label: string; format: Format; log?: boolean; max?: number; hidden?: boolean }
  interface Line { label: string; name?: string; ink: Ink; scale?: string; width?: number; points?: boolean; stepped?: boolean; mark?: string }
  interface Spec { kind: "lines" | "histogram"; x: Axis; y: Axis; series: Line[]; sync?: string; mark?: "vertical" | "horizontal"; markLabel?: string; side?: number; values?: "released" | "diagnostic" }
  type Columns = import("uplot").AlignedData;
  type Ends = [number, number];
  // Shown is what a chart shows beside its lines.
  interface Shown {
    start: number; end: number; mark: number; since: number; cover: number; tallest: number; heaviest: number; max: number; range: number;
    counts: Float64Array; noisy: Float64Array;
    changes: { line: number, step: number, text: string }[]; // of the runs, while they went on
  }

  // --- save.mjs: what can be saved of a chart ---

  // Pen is a canvas's context, or one that writes SVG, which has paths of its own.
  type Pen = CanvasRenderingContext2D & { path?(): Path2D };
  interface Table { columns: string[]; rows: (string | number | null)[][] }
  interface Savable {
    released: boolean; // all of it is
    covered: boolean; // by a guarantee, what is released of it
    size(): { width: number; height: number };
    picture(g: Pen): void; // in CSS pixels
    legend(): { text: string; colour: string; dash?: number[] }[];
    table(diagnostic: boolean): Table; // without rows where nothing may be told
  }

  // --- lab.js ---

  var clipscopeLab: object;
  // LabLook and Boundary are of clipscope.lab, as far as they are drawn; the others as ui/lab writes them.
  interface LabLook { norms: number[]; along: number[]; across: number[] }
  interface Boundary { size: number; x: Ends; y: Ends; classes: number[]; share: number[]; rows: { x: number; y: number; label: number }[] }
  interface Placed { text: string; x: number; y: number; w: number; colour: Ink; bold: boolean } // a text of a board
  interface Mean { x: number; y: number; from?: Ends; ink: Ink; label: string }
  interface PlaneSpec { lo: number; hi: number; reach: number; log: boolean; means: Mean[] }
  interface ULine { label: string; at: number; ink: Ink; width: number; dash?: number[]; sum?: boolean; x: number[]; y: number[] }
  interface Band { x: number[]; low: number[]; high: number[] }
  interface USpec {
    lo: number; hi: number; bottom: number; top: number; title: string; level: string;
    lines: ULine[]; path: number[]; least?: { c: number; y: number; label: string }; band?: Band;
  }

  // --- guard.js ---

  // In another page's frame: the origins that may have one, and the one that has, or ""
  // where the browser does not tell; undefined in no frame.
  var clipscopeFrame: Readonly<{ hosts: readonly string[]; host: string }> | undefined;

  // --- embed.js, which is there in a frame alone ---

  // ask is what answers a command: why it is refused, or "". tell is what that says.
  var clipscopeEmbed: Readonly<{ attach(ask: (what: string, text: string) => string): void; tell(kind: string, text: string): void }>;

  // --- early.js ---

  // stays resolves when the program may be loaded, as the page will not be loaded again;
  // use says that somebody has begun to use it; own whether a file was ever chosen; alone is why a run has one thread, or "".
  var clipscopeUpdate: Readonly<{ unfinished: Set<object> }>;
  var clipscopeEarly: { take(): File[]; dropped(transfer: DataTransfer): Promise<File[]>; own(): boolean; pathOf(file: File): string; stays: Promise<void>; use(): void; alone(): string };

  // --- texts.js ---

  var clipscopeTexts: Readonly<{ keep(imports: WebAssembly.Imports): WebAssembly.Imports }>;

  // --- load.js, and what it takes from wasm_exec.js and app.js ---

  interface Window { clipscopeProgram: Promise<WebAssembly.Module> }
  var Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };
  function goappInitServiceWorker(): Promise<void>;
}
