// The heap, but that what is taken begins with a line of the cache: parts of a call
// begin at multiples of 16 values, and two threads that write to one line wait for each
// other at every value.

const LINE: usize = 64;

// take is memory for n bytes until it is given back. Where the heap's begins stands
// before it.
export function take(n: usize): usize {
  const at = heap.alloc(n + LINE + 4), line = (at + 4 + LINE - 1) & ~(LINE - 1);
  store<usize>(line - 4, at);
  return line;
}

export function giveBack(line: usize): void {
  heap.free(load<usize>(line - 4));
}
