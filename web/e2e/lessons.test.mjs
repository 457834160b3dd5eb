// The lessons, walked as a student would: no question can be answered before its
// experiment has been done, and each can be after it. The sweep of 27 runs is started and
// stopped; ui/lab's tests have its end.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { eventually, frames, narrow, results, root, stage } from "./browser.mjs";

const { visit } = await stage();

const LESSONS = ["gradients", "clipping", "noise", "u", "adaptive", "epsilon", "who-pays", "sentences"];
const looked = (page) => page.waitForFunction(() => document.getElementById("lab-busy")?.textContent === "" && document.getElementById("lab-sentence")?.textContent);
const ready = (page) => page.locator("#lesson-check:enabled").waitFor();
const waits = (page) => page.locator("#lesson-check:disabled").waitFor();

// Where a step's part stands, as in ui/lab, or what is to be pressed before there is anything in it; shows waits until the page has grown by the
// batch's digits, and the part begins below the open lesson, for some frames on end, and is
// in sight with its first 100 pixels, or wholly where it is lower.
const parts = { plane: "lab-plane", u: "lab-u", sweep: "sweep", lanes: "lanes", game: "game", rows: "lab-rows" };
const told = JSON.parse(fs.readFileSync(path.join(root, "assets/lessons.json"), "utf8"));
async function shows(page, id, step) {
  const { from, show } = told.find((l) => l.id === id).steps[step - 1], trained = from && doing[`${id} ${step}`];
  await page.locator("#lab-rows li >> nth=0").waitFor();
  await page.waitForFunction((part) => {
    const { top, height } = document.getElementById(part).getBoundingClientRect();
    const seen = Math.ceil(top) >= Math.floor(document.getElementById("lessons").getBoundingClientRect().bottom) && Math.floor(top + Math.min(height, 100)) <= innerHeight;
    const w = /** @type {any} */ (window);
    w.framesSeen = seen ? (w.framesSeen ?? 0) + 1 : 0;
    return w.framesSeen >= 30;
  }, trained ? "lab-actions" : parts[show]);
  await page.evaluate(() => { /** @type {any} */ (window).framesSeen = 0; });
}

// Half of the digits are clipped at some C below 10, where the hand is.
async function halve(page) {
  await page.focus("#lab-u");
  for (let i = 0; i < 100 && await page.locator("#lesson-check").isDisabled(); i++) {
    const before = await page.locator("#lab-sentence").textContent();
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction((before) => document.getElementById("lab-sentence")?.textContent !== before, before);
  }
}

// doing is what a step's text asks for.
const doing = {
  "gradients 3": (page) => page.locator("#lab-on-100").click(),
  "clipping 2": halve,
  "noise 1": (page) => page.locator("#lab-noise").click(),
  "adaptive 2": (page) => page.locator("#lanes-start").click(),
  "adaptive 4": (page) => page.locator("#lanes-start").click(),
  "who-pays 1": (page) => page.locator("#lanes-start").click(),
  "who-pays 4": (page) => page.locator("#lab-on-100").click(),
  "sentences 2": (page) => page.locator("#lab-on-100").click(),
  "epsilon 2": (page) => page.locator("#guess-best").click(),
  "epsilon 3": (page) => page.locator("#guess-best").click(),
  "epsilon 4": (page) => page.locator("#guess-best").click(),
};

for (const id of LESSONS) {
  test(`the lesson ${id} can be taken from its link`, async (t) => {
    const page = await visit(t, "lab#lesson=" + id, { viewport: { width: 1280, height: 720 } });
    await page.locator(".lesson-head h2").waitFor();
    for (let step = 1; ; step++) {
      await page.locator(".lesson-head", { hasText: `step ${step} of` }).waitFor();
      const sweep = id === "u" && step === 4, question = told.find((l) => l.id === id).steps[step - 1].ask;
      if (id !== "epsilon") await looked(page);
      await shows(page, id, step);
      if (id === "clipping" && step === 4) await eventually(async () => assert.match(await page.locator("#lab-sentence").innerText(), /^At C = 3 .* leaves [2-7]\d % of its length/, "a bias that can be seen"));
      const act = doing[`${id} ${step}`];
      if (act && question) await waits(page); // for its experiment
      if (act) await act(page);
      if (question && sweep) {
        await waits(page);
      } else if (question) {
        await ready(page);
        if (question.options) await page.locator("#lesson-option-0").check({ force: true });
        else {
          assert.equal(await page.locator("#lesson-answer").inputValue(), "", "no answer of an earlier question stands there");
          await page.locator("#lesson-answer").fill("1");
        }
        await page.locator("#lesson-check").click();
        await page.waitForFunction(() => /^(Right\.|Your experiment says: )/.test(document.getElementById("lesson-verdict")?.textContent ?? ""));
      }
      if (await page.locator("#lesson-next").innerText() !== "Next") break;
      await page.locator("#lesson-next").click();
    }
    await page.screenshot({ path: path.join(results, `lesson-${id}.png`) });
    const at = await page.locator(".lesson-head .muted").innerText();
    await page.reload();
    await page.locator(".lesson-head", { hasText: at }).waitFor(); // the link holds the step
    await eventually(() => assert.equal(new URL(page.url()).hash, `#lesson=${id}.${at.match(/\d+/)?.[0]}`));
    if (id === LESSONS.at(-1)) { // it leads to the list of all, which is open
      await page.locator("#lesson-next", { hasText: "All lessons" }).press("Enter");
      await page.locator(".lesson-list[open] li >> nth=7").waitFor();
      await page.waitForFunction(() => document.activeElement?.id === "lesson-list");
    }
    assert.deepEqual(page.errors, []);
  });
}

test("the handle answers which C is best, and an answer that is not there is asked for", async (t) => {
  const page = await visit(t, "lab#lesson=u", { viewport: { width: 1280, height: 720 } });
  const wait = (text) => page.locator("#lesson-wait", { hasText: text }).waitFor();
  await page.locator(".lesson-head h2").waitFor();
  await ready(page);
  await page.focus("#lab-u");
  await page.keyboard.press("PageDown");
  await page.waitForFunction(() => Number(document.getElementById("lab-u")?.getAttribute("aria-valuenow")) < 0.9);
  await page.click("#lesson-check");
  await page.locator("#lesson-verdict", { hasText: /^(Right\.|Your experiment says: )/ }).waitFor();
  await eventually(async () => assert.equal(Number(await page.inputValue("#lesson-answer")), Number(await page.locator("#lab-u").getAttribute("aria-valuenow"))));
  await page.click("#lesson-next");
  await ready(page);
  const check = await page.locator("#lesson-check").boundingBox();
  await page.click("#lesson-check");
  await wait("Choose an answer first.");
  await page.locator("#lesson-option-1").check({ force: true });
  assert.equal((await page.locator("#lesson-check").boundingBox()).x, check.x); // it stays under the hand
  assert.deepEqual(page.errors, []);
});

test("a sweep of before counts where it is of the step's experiment, and no answer moves the page", async (t) => {
  const page = await visit(t, "lab", { viewport: { width: 1280, height: 720 } });
  await looked(page);
  const sigma = await page.locator("#lab-sigma-now").textContent();
  await page.locator("#s-lab-epsilon-2").check({ force: true });
  await page.waitForFunction((sigma) => document.getElementById("lab-sigma-now")?.textContent !== sigma, sigma);
  await looked(page);
  await page.click("#sweep-start");
  await page.locator("#sweep-said", { hasText: "best C = " }).waitFor();
  await page.evaluate(() => { location.hash = "#lesson=u.4"; });
  await page.locator(".lesson-head", { hasText: "step 4" }).waitFor();
  await ready(page);
  await shows(page, "u", 4); // what the step's experiment looks like may take a line more
  await looked(page);
  await page.locator("#sweep").evaluate((e) => e.scrollIntoView({ block: "end", behavior: "instant" }));
  const at = () => page.locator("#sweep").evaluate((e) => Math.round(e.getBoundingClientRect().top)), before = await at();
  await page.fill("#lesson-answer", "3");
  await page.locator("#lesson-answer").focus();
  for (const key of ["Tab", "Shift+Tab", "Tab", "Enter"]) await page.keyboard.press(key);
  await page.locator("#lesson-verdict:not([hidden])").waitFor();
  await frames(page, 30);
  assert.equal(await at(), before);
  assert.deepEqual(page.errors, []);
});

test("by keyboard a lesson is opened and left; a figure of a paper runs from a click", async (t) => {
  const page = await visit(t, "lab", { viewport: { width: 1280, height: 720 } });
  const focused = (id) => page.waitForFunction((id) => document.activeElement?.id === id, id);
  await page.focus("#lesson-list");
  await page.keyboard.press("Enter");
  await page.locator(".lesson-list[open] li").first().waitFor();
  for (const key of ["Tab", "Enter"]) await page.keyboard.press(key);
  await focused("lesson-next");
  await page.locator("#lesson-leave").press("Enter");
  await focused("lesson-list");

  await page.locator(".papers summary").first().click();
  await page.click("#figure-ps-3");
  await page.locator("#figure", { hasText: "the clipped mean has a large cosine with the true one" }).waitFor();
  await page.click("#figure-run");
  await page.locator("#lanes-table tbody tr >> nth=2 >> text=done").waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll("#lanes-table tbody tr")].every((row) => row.textContent?.includes("done")));
  await page.waitForFunction(() => { // what was started is in sight
    const { top = -1, height = 0 } = document.getElementById("lanes-charts")?.getBoundingClientRect() ?? {};
    const claim = document.getElementById("lanes-about")?.getBoundingClientRect().top ?? -1;
    return claim >= 0 && top >= 0 && top + Math.min(height, 200) <= innerHeight;
  });
  await eventually(async () => assert.match(await page.locator("#lanes-about").innerText(), /^DP-PSAC, Figure 3: With DP-PSAC the clipped mean has a large cosine .* Look at: cosine/));
  await eventually(async () => assert.equal(await page.locator("#lanes-table tbody tr").count(), await page.locator("#figure .stored tbody tr").count()));
  assert.deepEqual(page.errors, []);
});

test("answers are handed in at a lesson's end, and a teacher's page has those of many", async (t) => {
  const page = await visit(t, "lab#lesson=gradients.4", { viewport: { width: 1280, height: 720 } });
  await ready(page); // the steps before have trained so far
  await page.locator("#hands h2", { hasText: "at step 100" }).waitFor();
  await page.click("#lesson-back");
  await page.locator(".lesson-head", { hasText: "step 3 of 4" }).waitFor();
  await looked(page);
  await page.locator("#hands h2", { hasText: "at step 100" }).waitFor();
  await page.click("#lesson-next");
  await ready(page);
  for (const answer of ["5", "5", "4.5"]) {
    await page.fill("#lesson-answer", answer);
    await page.click("#lesson-check");
  }
  await page.click("#lesson-back");
  await page.locator(".lesson-head", { hasText: "step 3 of 4" }).waitFor();
  await page.click("#lesson-next");
  await page.locator("#lesson-verdict", { hasText: /\S/ }).waitFor();
  assert.equal(await page.inputValue("#lesson-answer"), "4.5");
  await page.locator("#hand-in summary", { hasText: "1 answer of 3 questions" }).click();
  await page.fill("#hand-in-name", "Anna");
  await page.locator("#hand-in-text", { hasText: '"name":"Anna"' }).waitFor();
  const card = await page.locator("#hand-in-text").textContent() ?? "";
  assert.match(card, /^clipscope-answers \{"lesson":"gradients","name":"Anna","answers":\[\{"step":4,"said":5,"truth":[\d.]+,"again":1\}\]\}$/);
  await page.click("#hand-in .qr");
  await page.locator(".qr-sheet .qr-link", { hasText: card }).waitFor();
  assert.ok(await page.locator(".qr-code").isVisible());
  await page.keyboard.press("Escape");
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("#hand-in-save")]);
  assert.equal(fs.readFileSync(await file.path(), "utf8").trim(), card);
  await page.click("#lesson-leave");

  await page.locator("#lesson-list").click();
  await page.locator("#for-teachers").click();
  await page.fill("#class-text", `${card}\n> ${card.replace("Anna", "<i>Bo</i>").replace('"said":5', '"said":50')}\nclipscope-answers {"lesson":"cooking"}`);
  const rows = page.locator("#class-gradients tbody").last().locator("tr");
  await eventually(async () => assert.deepEqual((await rows.allInnerTexts()).map((r) => r.split("\t")[0]), ["<i>Bo</i>", "Anna"]));
  await page.locator(".class .warning", { hasText: 'Not read: card 3: there is no lesson "cooking" here.' }).waitFor();
  await page.setInputFiles("#class-files", { name: "answers.txt", mimeType: "text/plain", buffer: Buffer.from(card.replace("Anna", "Cleo")) });
  await eventually(async () => assert.equal(await rows.count(), 3));
  assert.equal(await page.locator("#class-gradients .strip .said").count(), 3);
  assert.match(await rows.filter({ hasText: "Bo" }).innerText(), /50 \+1$/); // no more right than it says
  assert.deepEqual(page.errors, []);
});

test("on a phone the lessons are on the first screen", async (t) => {
  const page = await visit(t, "lab", { viewport: narrow, hasTouch: true, isMobile: true });
  await looked(page);
  await eventually(async () => assert.ok(((await page.locator("#lesson-list").boundingBox())?.y ?? narrow.height) < narrow.height / 2));
  await page.locator("#lesson-list").tap();
  await page.locator("#lesson-gradients").tap();
  await page.locator("#lesson-text").waitFor();
});

test("on a phone what is said of an answer is in sight", async (t) => {
  const page = await visit(t, "lab#lesson=noise", { viewport: narrow, hasTouch: true, isMobile: true });
  await looked(page);
  await page.locator("#lab-noise").tap();
  await ready(page);
  await shows(page, "noise", 1); // the picture, which the button is far below
  await page.locator("#lesson-answer").fill("1");
  await page.locator("#lesson-check").tap();
  await page.waitForFunction(() => {
    const verdict = document.getElementById("lesson-verdict"), box = (e) => e.getBoundingClientRect();
    return verdict?.textContent && box(verdict).bottom <= box(document.getElementById("lessons")).bottom;
  });
  assert.deepEqual(page.errors, []);
});

for (const [on, viewport] of /** @type {const} */ ([["a screen", { width: 1280, height: 720 }], ["a phone", narrow]])) {
  test(`on ${on} what has the keyboard lies under nothing that stays`, async (t) => {
    const page = await visit(t, "lab#lesson=clipping", { viewport });
    await looked(page);
    const seen = new Set();
    for (const key of ["Tab", "Shift+Tab"]) {
      await page.locator(key === "Tab" ? "#f-data" : "#lanes-seeds").focus();
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press(key);
        await eventually(async () => { // the browser scrolls
          const [name, under] = await page.evaluate(() => {
            const e = document.activeElement, { top, bottom } = e.getBoundingClientRect();
            const over = [...document.querySelectorAll(".lessons, .lab-thumb")].filter((s) => !s.contains(e) && ["sticky", "fixed"].includes(getComputedStyle(s).position));
            const middle = (top + bottom) / 2;
            return [e.id, over.some((s) => middle > s.getBoundingClientRect().top && middle < s.getBoundingClientRect().bottom)];
          });
          assert.ok(!under, `${key}: ${name} is covered`);
          seen.add(name);
        });
      }
    }
    assert.ok(seen.has("lab-again") && seen.has("sweep-start"), [...seen].join());
    assert.deepEqual(page.errors, []);
  });
}
