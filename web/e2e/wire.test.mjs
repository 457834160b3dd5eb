// What crosses the border as text: numbers that JSON lacks, and everybody's own
// texts. Without a browser, as web/wire.js needs none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fail, hear, say } from "../wire.js";

test("numbers that JSON lacks come back wherever they stand", () => {
  for (const x of [Infinity, -Infinity, NaN, 0, 1.5, null, [], {}, [0, NaN, 2, [-Infinity]], { a: { b: [{ c: Infinity }] }, d: null }]) {
    assert.deepEqual(hear(say(x)), x);
  }
  assert.deepEqual(hear('[1,{"$numberDouble":"-Infinity"}]'), [1, -Infinity]);
});

test("no text is ever taken for a number", () => {
  const texts = ["Infinity", "-Infinity", "NaN", "null", "$numberDouble", '{"$numberDouble":"NaN"}', '{"step":7', ""];
  const mine = {
    names: texts, nested: [texts, { Infinity: "NaN" }], columns: Object.fromEntries(texts.map((t) => [t, t])),
    two: { $numberDouble: "NaN", other: "x" }, no_number: { $numberDouble: "numeric" }, list: { $numberDouble: ["NaN"] },
  };
  assert.deepEqual(hear(say(mine)), mine);
});

test("a long list of numbers is heard whole", () => {
  const long = Array.from({ length: 100_000 }, (_, i) => i === 99_999 ? NaN : i);
  assert.deepEqual(hear(say(long)), long);
});

test("a failure says in fields what it says in words", () => {
  const e = fail("no", { field: "steps" });
  assert.ok(e instanceof Error);
  assert.deepEqual([e.name, e.message, e.detail, fail("no").detail], ["ClipscopeError", "no", { field: "steps" }, {}]);
});
