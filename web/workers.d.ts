// What a trainer's worker has in sight of all, for the checker alone.

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

// clipscopeWorker has what the program calls: kernels, gpu, backbone and module.
declare var clipscopeWorker: Readonly<Record<string, any>>;
