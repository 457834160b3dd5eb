// What the page's scripts put in sight of others, for the checker alone, and what they find
// there.

declare global {
  // --- page.js ---

  // clipscope is the scripting API, which docs/scripting.md describes; clipscopePage has what
  // the program calls.
  var clipscope: any;
  var clipscopePage: Readonly<Record<"early" | "ui" | "lab" | "use" | "runs", any>>;

  // --- early.js ---

  // stays resolves when the program may be loaded, as the page will not be loaded again, and program with
  // what the server answers for it; use says that somebody has begun to use the page; own whether a file
  // was ever chosen; alone is why a run has one thread, or "".
  var clipscopeEarly: {
    take(): File[];
    dropped(transfer: DataTransfer): Promise<File[]>;
    own(): boolean;
    pathOf(file: File): string;
    stays: Promise<void>;
    program: Promise<Response>;
    use(): void;
    alone(): string;
  };

  // --- guard.js ---

  // In another page's frame: the origins that may have one, and the one that has, or ""
  // where the browser does not tell; undefined in no frame.
  var clipscopeFrame: Readonly<{ hosts: readonly string[]; host: string }> | undefined;

  // --- embed.js, which is there in a frame alone ---

  // ask is what answers a command: why it is refused, or "". tell is what that says.
  var clipscopeEmbed: Readonly<{ attach(ask: (what: string, text: string) => string): void; tell(kind: string, text: string): void }>;

  // --- wasm_exec.js and app.js ---

  var Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };
  function goappInitServiceWorker(): Promise<void>;
}

export {};
