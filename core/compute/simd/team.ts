// Several threads that share one call of a kernel. Each is an instance of the
// module in a worker of its own, all on one memory. A call is cut into parts, which
// whoever is free takes, the caller among them: a thread that is slow to come, or is
// gone, holds nobody up unless it has a part in hand. The caller takes the last that is
// left, others the first, so that of call after call a thread has the same things, and
// they stay in its cache.

import { take } from "./lines";

export type Part = i32; // the part of a call to run, from 0
export type Parts = i32; // of how many

// Offsets from where the team is; what different threads write does not share a
// line of the cache.
const TICKET = 0; // the call's number, and in its low bits the first part that nobody has, and the end of those
const PENDING = 64; // how many parts are not done
const WAITING = 68; // the caller sleeps until they are
const FAILED = 72; // a part could not be run
const SLEEPING = 128; // how many threads sleep until TICKET changes
const CALL = 192; // the kernel, the number of parts and the arguments
const LENT = 384; // the same of a call that is lent
const KEY = 576; // and its key
const LAID = 632; // where what parts have together begins
const SIZE = 640;

const END = 7; // bits of TICKET that have the first, and as many have the end
const MASK = (1 << END) - 1;
const LEFT = MASK << END | MASK;
export const MOST = 16; // threads

let at: usize = 0;
let helps: bool = false; // another's calls
let threads: i32 = 1;
let least: f64 = 0; // cost of a call that is worth two threads

// found makes a team of one and returns where it is.
export function found(): usize {
  at = take(SIZE);
  memory.fill(at, 0, SIZE);
  return at;
}

export function join(team: usize): void {
  at = team;
  helps = true;
}

export function share(n: i32, cost: f64): void {
  threads = max(min(n, MOST), 1);
  least = cost;
}

// several reports whether calls are shared.
// @ts-ignore: decorator
@inline
export function several(): bool {
  return threads > 1;
}

// lay says where memory is that the parts of the calls to come have together, and laid
// is that.
export function lay(p: usize): void {
  store<usize>(at, p, LAID);
}

// @ts-ignore: decorator
@inline
export function laid(): usize {
  return load<usize>(at, LAID);
}

// partsFor is into how many parts a call of a cost is cut.
export function partsFor(cost: f64): i32 {
  if (threads == 1 || cost < least || cost == 0) return 1;
  return least > 0 ? <i32>min(<f64>threads, 2 * cost / least) : threads;
}

// first is where a part begins among n things, runs of unit being kept together.
export function first(n: i32, unit: i32, part: Part, parts: Parts): i32 {
  const runs = (n + unit - 1) / unit;
  return <i32>min(<i64>runs * part / parts * unit, n);
}

// call is where a call stands, kernel and number of parts first.
// @ts-ignore: decorator
@inline
export function call(): usize {
  return at + CALL;
}

// open offers parts from … to−1 of what stands there, to no more threads than share
// calls: what is lent has more parts.
export function open(from: i32, to: i32): void {
  atomic.store<i32>(at, to - from, PENDING);
  atomic.store<i32>(at, (atomic.load<i32>(at, TICKET) & ~LEFT) + (LEFT + 1) | to << END | from, TICKET);
  if (atomic.load<i32>(at, SLEEPING) > 0) atomic.notify(at + TICKET, min(to - from, threads) - 1);
}

// ticket is TICKET, and idle says that there is nothing to do.
// @ts-ignore: decorator
@inline
export function ticket(): i32 {
  return atomic.load<i32>(at, TICKET);
}

// @ts-ignore: decorator
@inline
export function idle(t: i32): bool {
  return (t & MASK) == (t >> END & MASK);
}

// claim takes a part that nobody has, and is −1 where there is none. Until it is
// done the call stays what it is.
export function claim(): i32 {
  while (true) {
    const t = ticket();
    if (idle(t)) return -1;
    if (atomic.cmpxchg<i32>(at, t, helps ? t + 1 : t - (1 << END), TICKET) == t) return helps ? t & MASK : (t >> END & MASK) - 1;
  }
}

// done says that a part is.
export function done(): void {
  if (atomic.sub<i32>(at, 1, PENDING) == 1 && atomic.load<i32>(at, WAITING) != 0) atomic.notify(at + PENDING, 1);
}

// A call that writes one buffer and reads nothing but its key may be lent to the others:
// nobody waits for it until that buffer is wanted. They are at it while the first thread
// is between calls, or at one that is not cut; for one that is, or that may want memory,
// it is called off, when whoever has a part of it has done that, and on again afterwards.

const SHORT = 10000; // what a part of it costs, a microsecond or two

let lentFrom: i32 = 0, lentTo: i32 = 0; // its parts that are left while it is called off
let lending: bool = false; // the first thread's own, as those are

// lentParts is into how many parts a call of a cost is cut that is lent.
export function lentParts(cost: f64): i32 {
  return <i32>max(min(cost / SHORT, <f64>MASK), 1);
}

// lend offers what stands there with a key of its own, as the place of that one may have
// another soon.
export function lend(parts: i32, key: usize): void {
  memory.copy(at + KEY, key, 44);
  memory.copy(at + LENT, at + CALL, KEY - LENT);
  lending = true;
  open(0, parts);
}

// keyOf is where the key of a call is that is lent.
export function keyOf(): usize {
  return at + KEY;
}

// callOff has the team free for another call.
export function callOff(): void {
  if (!lending) return;
  while (true) {
    const t = ticket();
    lentFrom = t & MASK;
    lentTo = t >> END & MASK;
    if (atomic.cmpxchg<i32>(at, t, t & ~LEFT, TICKET) == t) break;
  }
  atomic.sub<i32>(at, lentTo - lentFrom, PENDING);
  finish();
  lending = lentTo > lentFrom;
}

// callOn undoes callOff.
export function callOn(): void {
  if (!lending) return;
  memory.copy(at + CALL, at + LENT, KEY - LENT);
  open(lentFrom, lentTo);
}

// isLent reports that a call is with the others, and returned says that it is done.
export function isLent(): bool {
  return lending;
}

export function returned(): void {
  lending = false;
}

// fail says that a part could not be run, which ends the caller as well.
export function fail(): void {
  atomic.store<i32>(at, 1, FAILED);
  done();
}

const TURNS = 20000; // tens of microseconds, in which others nearly always come to their end
const PATIENCE = 100; // seconds of being awake until a thread that has a part counts as gone

// finish waits until all parts are done. It does so without an engine's help at
// first, as to sleep and be woken takes longer than most parts.
export function finish(): void {
  for (let turns = TURNS; turns > 0; turns--) {
    if (atomic.load<i32>(at, PENDING) == 0) {
      turned();
      return;
    }
  }
  atomic.store<i32>(at, 1, WAITING);
  waited = 0;
  while (atomic.load<i32>(at, PENDING) != 0) doze();
  atomic.store<i32>(at, 0, WAITING);
  turned();
}

// @ts-ignore: decorator
@inline
function turned(): void {
  if (atomic.load<i32>(at, FAILED) != 0) unreachable();
}

let waited: i32 = 0;

// doze sleeps for a second or until the last part is done. It is apart, and what it
// counts in is no local variable: V8 11.3 forgets those where a thread has slept.
// @ts-ignore: decorator
@noinline
function doze(): void {
  const left = atomic.load<i32>(at, PENDING);
  if (left != 0 && atomic.wait<i32>(at + PENDING, left, 1000000000) == 2) waited++;
  if (waited > PATIENCE) unreachable();
}
