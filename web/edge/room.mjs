// A room in which parties train together, as a durable object: sockets that may sleep, and storage. What it
// does is the machine's, package room in Go, which runs in here: it says what is to be sent.
import { DurableObject } from "cloudflare:workers";
import "../../app/edge/build/wasm_exec.js";
import { loadModule } from "../../app/edge/build/runtime.mjs";

// A value of storage has 2 MB at most; a sum may have 16.
const piece = 1 << 20;

// What is left of a room that is over, for who asks why.
const keptAfter = 24 * 3600 * 1000;

// More connections than these the room does not take, beside one for each party: those that come back.
const spare = 64;

export class Room extends DurableObject {
  /** @param {any} ctx @param {any} env */
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS kept (key TEXT, part INTEGER, value BLOB, PRIMARY KEY (key, part))");
    ctx.blockConcurrencyWhile(() => this.begin());
  }

  async begin() {
    // @ts-ignore what Go has put there
    const go = new globalThis.Go(), { sql } = this.ctx.storage;
    /** @type {any} */
    const machine = {
      store: {
        /** @param {string} key */
        get: (key) => join(sql.exec("SELECT value FROM kept WHERE key = ? ORDER BY part", key).toArray().map((row) => new Uint8Array(/** @type {ArrayBuffer} */ (row.value)))),
        /** @param {string} key @param {Uint8Array} value */
        put: (key, value) => {
          sql.exec("DELETE FROM kept WHERE key = ?", key);
          for (let part = 0; part * piece < value.length || part === 0; part++) sql.exec("INSERT INTO kept VALUES (?, ?, ?)", key, part, value.slice(part * piece, (part + 1) * piece));
        },
      },
    };
    const module = await loadModule();
    await new Promise((ready, fail) => {
      // It goes on as long as the object does: if it ends, that is a fault.
      go.run(new WebAssembly.Instance(module, { ...go.importObject, workers: { ready } }), { room: machine }).then(() => fail(new Error("the room's machine has ended")), fail);
    });
    if (machine.broken) throw new Error(machine.broken);
    this.machine = machine;
    this.last = 0;
    /** @type {Map<number, WebSocket>} */
    this.sockets = new Map();
    for (const socket of this.ctx.getWebSockets()) {
      const { id, seat } = socket.deserializeAttachment();
      this.sockets.set(id, socket);
      this.last = Math.max(this.last, id);
      if (machine.is()) machine.attach(id, seat);
    }
    if (machine.is()) this.take(machine.tick());
  }

  // fetch opens the room, says what it is for, or takes a party's connection.
  /** @param {Request} request */
  async fetch(request) {
    if (request.method === "POST") {
      if (this.machine.is()) return new Response(null, { status: 409 });
      const { error } = this.take(this.machine.open(new Uint8Array(await request.arrayBuffer())));
      return new Response(error, { status: error ? 400 : 201 });
    }
    if (!this.machine.is()) return new Response("There is no such room.\n", { status: 404 });
    const welcome = this.machine.welcome();
    if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") return new Response(welcome, { status: welcome ? 200 : 503 });
    if (this.sockets.size >= spare + new DataView(welcome.buffer).getUint16(4, true)) return new Response("The room has too many connections.\n", { status: 503 });
    const [theirs, ours] = Object.values(new WebSocketPair());
    const id = ++this.last;
    this.ctx.acceptWebSocket(ours);
    ours.serializeAttachment({ id, seat: -1 });
    this.sockets.set(id, ours);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** @param {WebSocket} socket @param {string | ArrayBuffer} message */
  webSocketMessage(socket, message) {
    const { id, seat } = socket.deserializeAttachment();
    this.take(this.machine.receive(id, typeof message === "string" ? new Uint8Array() : new Uint8Array(message)));
    const now = this.machine.seat(id);
    if (now !== seat && this.sockets.has(id)) socket.serializeAttachment({ id, seat: now });
  }

  /** @param {WebSocket} socket */
  webSocketClose(socket) {
    const { id } = socket.deserializeAttachment();
    if (this.sockets.delete(id)) this.take(this.machine.lost(id));
  }

  /** @param {WebSocket} socket */
  webSocketError(socket) { this.webSocketClose(socket); }

  async alarm() {
    if (this.machine.is() && !this.over) this.take(this.machine.tick());
    else await this.ctx.storage.deleteAll();
  }

  // take sends what the machine says, and sees to it that it is called again in time. A machine whose
  // storage has failed is not asked again: the object begins anew from what is stored.
  /** @param {any} said */
  take({ error, sends, next, over, busy }) {
    if (error && this.machine.is()) this.ctx.abort(error);
    if (error) return { error };
    for (const { to, frame, close } of sends) {
      const socket = this.sockets.get(to);
      if (!socket) continue;
      try {
        if (frame) socket.send(frame);
        if (close) socket.close(1000);
      } catch { /* it is gone, which is told apart */ }
      if (close) this.sockets.delete(to);
    }
    this.over = over;
    void this.ctx.storage.setAlarm(over ? Date.now() + keptAfter : next);
    // A sum that is not whole is in memory alone: the object does not sleep meanwhile.
    clearTimeout(this.awake);
    if (busy) this.awake = setTimeout(() => {}, next - Date.now());
    return {};
  }
}

/** @param {Uint8Array[]} parts */
function join(parts) {
  if (parts.length < 2) return parts[0];
  const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    whole.set(p, at);
    at += p.length;
  }
  return whole;
}
