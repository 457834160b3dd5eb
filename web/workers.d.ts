// What the trainer worker's scripts share, for the checker alone.

// Go runs a program that Go compiled; wasm_exec.js of its distribution has it,
// and fs, whose writeSync is where the program prints.
declare class Go {
  argv: string[];
  env: Record<string, string>;
  exit(code: number): void;
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}
declare var fs: { writeSync(fd: number, bytes: Uint8Array): number };

declare type Kind = "relaxed" | "simd128" | "none";
// Started is a worker, or Node's.
declare interface Started {
  onmessage: ((e: any) => void) | null;
  onerror: ((e: any) => void) | null;
  postMessage(data: unknown): void;
  terminate(): void;
}
declare var clipscopeGPU: {
  there: boolean;
  attach(instance: WebAssembly.Instance): void;
  open(programs: { name: string; code: string; entry: string }[], slot: number, slots: number): Promise<object>;
};
declare var clipscopeBackbone: {
  base: string;
  open(file: File, bytes: number, signal: AbortSignal): Promise<object>;
};
declare var clipscopeKernels: {
  bound: Kind;
  threads: number;
  alone: string;
  apart: string;
  least: number;
  choose(): Kind;
  spawn(text: string): Started;
  fair: boolean;
  running: Int32Array | undefined;
  cores(): number;
  team(n: number, fair?: boolean): Promise<number>;
  share(n: number): number;
  imports: Record<string, (...args: any[]) => any>;
  id(name: string): number;
  load(compile: (name: string) => Promise<WebAssembly.Module>, kind?: Kind): Promise<Kind>;
  attach(instance: WebAssembly.Instance): void;
};
declare var clipscopeModule: (name: string) => Promise<any>;
