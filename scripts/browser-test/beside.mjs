// Accessibility and paper, and the review of labels, which a program serves.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Faults of accessibility that are serious or worse.
export const checkAxe = async (page, where, say) => {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations, passes } = await axe.run(document, { resultTypes: ["violations"] });
    const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
    return { passes: passes.length, serious: serious.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0].target.join(" ")}: ${nodes[0].any[0]?.message ?? nodes[0].failureSummary}`) };
  });
  if (!found.passes) say(where, "axe looked at nothing");
  found.serious.forEach((what) => say(where, `axe: ${what}`));
  console.log(`${where}: axe: ${found.passes} rules passed, ${found.serious.length} serious faults`);
};

// How many pages of A4 a report takes, and that nothing on them is white on white, whatever theme the screen had.
export const checkPaper = async (browser, url, where, say, most) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" });
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; });
  await page.emulateMedia({ media: "print" });
  const pale = await page.evaluate(() => {
    const white = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return a > 0 && Math.min(r, g, b) > 215; };
    return [...document.querySelectorAll("body *")].filter((node) => node.getClientRects().length && !(node instanceof SVGElement && node.textContent.trim().length === 1) /* the letter of a mark stands on its colour */ && [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()))
      .filter((node) => white(node instanceof SVGElement ? getComputedStyle(node).fill : getComputedStyle(node).color)).map((node) => `${node.localName}.${node.className}: ${node.textContent.slice(0, 30)}`);
  });
  if (pale.length) say(where, `${pale.length} texts are as good as white on paper: ${pale[0]}`);
  const pdf = await page.pdf({ format: "A4" });
  const pages = (pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) ?? []).length;
  if (!(pages >= 1 && pages <= most)) say(where, `${pages} pages of A4; expected at most ${most}`);
  console.log(`${where}: ${pages} pages of A4`);
  await context.close();
};

const CLEAN = "A text that says one thing after another, and each of them once. ";
const TRANSCRIPTS = [
  { id: "loop", answer: `A start. ${"Let me think about it. ".repeat(30)}` },
  { id: "<img src=x onerror=alert(1)>", answer: `${CLEAN}<script>alert(1)</script>\u202e${"It is so, I think, and it stays so. ".repeat(3)}` },
  { id: "over", answer: `${CLEAN}${"I think so. ".repeat(30)}Now I know. ${CLEAN}` },
  { id: "long", answer: `${CLEAN}${"想一想，再想一想。".repeat(2000)}` },
];

// A review by keys: the same file that the same keys leave in a terminal.
export const checkReview = async (browser, program, shots, say) => {
  const where = "review", folder = mkdtempSync(join(tmpdir(), "deadloop-review-"));
  writeFileSync(join(folder, "c.jsonl"), TRANSCRIPTS.map((one) => JSON.stringify(one)).join("\n"));
  const words = ["label", "c.jsonl", "--reviewer", "ann", "--out"];
  const child = spawn(program, [...words, "web.csv", "--serve"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((done) => child.on("exit", done));
  const address = await new Promise((done) => { let text = ""; child.stderr.on("data", (data) => { text += data; const found = /review: (\S+)/.exec(text); if (found) done(found[1]); }); child.on("exit", () => done(null)); });
  if (!address) { say(where, "the program told no address"); return; }
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.on("console", (message) => say(where, `console: ${message.text()}`));
  page.on("pageerror", (error) => say(where, `script error: ${error.message}`));
  page.on("dialog", (dialog) => { say(where, `a dialog opened: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("data:")) say(where, `asked for ${request.url()}`); });
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById("which").textContent.startsWith("1 of 4"), null, { timeout: 20000 });
  const count = () => page.textContent("#count");
  const pressed = async (key, wanted) => {
    await page.keyboard.press(key);
    await page.waitForFunction((wanted) => `${document.getElementById("which").textContent} ${document.getElementById("count").textContent}`.includes(wanted), wanted, { timeout: 10000 }).catch(async () => say(where, `after ${key}: ${await page.textContent("#which")}, ${await count()}; expected ${wanted}`));
  };
  for (const [width, height] of [[1280, 800], [400, 700]]) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      const { low, wide } = await page.evaluate(() => ({
        low: ["#which", "#rows", "#said", "#keys"].filter((name) => { const box = document.querySelector(name).getBoundingClientRect(); return box.top < 0 || box.bottom > innerHeight; }),
        wide: document.scrollingElement.scrollWidth > innerWidth,
      }));
      if (low.length || wide) say(where, `at ${width} px out of sight: ${low.join()}${wide ? ", and the page scrolls sideways" : ""}`);
      await page.screenshot({ path: join(shots, `review-${width}-${colorScheme}.png`) });
      await checkAxe(page, `${where} ${width} ${colorScheme}`, say);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  // What each key does, and that the mouse does the same.
  await pressed("v", "the whole text");
  await page.keyboard.press("?");
  await page.waitForSelector("#help", { timeout: 10000 }).catch(() => say(where, "no help"));
  await pressed("?", "the whole text");
  await pressed("v", "1 of 4");
  await pressed("t", "1 answered, 3 left");
  await pressed("z", "0 answered, 4 left");
  await pressed("Enter", "1 answered, 3 left");
  await pressed("s", "3 of 4");
  await page.locator("#keys button", { hasText: "unsure" }).click();
  await pressed("Enter", "3 answered, 1 left");
  await page.keyboard.press("x");
  await pressed("z", "2 answered, 2 left");
  await pressed("Enter", "3 answered, 1 left");
  if (!(await page.textContent("#which")).startsWith("All were")) say(where, "the end is not told");
  const stray = await page.evaluate(() => document.querySelectorAll("#text :is(img, script), h1 img").length);
  if (stray) say(where, "markup of a transcript was obeyed");
  await page.keyboard.press("q");
  await page.waitForFunction(() => document.getElementById("which").textContent.includes("has ended"), null, { timeout: 10000 }).catch(() => say(where, "q ends nothing"));
  const code = await Promise.race([ended, new Promise((done) => setTimeout(done, 10000, "nothing"))]);
  if (code !== 0) say(where, `the program ended with ${code}`);
  await context.close();
  await new Promise((done) => {
    const lines = spawn(program, [...words, "lines.csv", "--review"], { cwd: folder, stdio: ["pipe", "ignore", "ignore"] });
    lines.on("exit", done);
    lines.stdin.end("v\n?\n?\nv\nt\nz\nenter\ns\nu\nenter\n");
  });
  const [web, lines] = ["web.csv", "lines.csv"].map((name) => readFileSync(join(folder, name), "utf8"));
  if (web !== lines || !web.includes("review:ann")) say(where, `keys in the browser left another file than in a terminal:\n${web}\n${lines}`);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${where}: every key, and the file that a terminal leaves`);
};
