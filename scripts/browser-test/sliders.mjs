// Moves the sliders of a report page and holds what it shows against scores.csv beside it.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const SAMPLES = 24;

// One line of CSV; cells may be quoted.
const cellsOf = (line) => {
  const cells = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  return cells;
};

// The rows of some cells (numbers in the plan) by model.
export const rowsOf = async (file, wanted) => {
  let head = null, number = -1, rest = "";
  const rows = new Map();
  for await (const piece of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const line = rest === "" ? piece : `${rest}\n${piece}`;
    // A line break inside quotes.
    if ((line.split('"').length - 1) % 2 === 1) { rest = line; continue; }
    rest = "";
    const cells = cellsOf(line);
    if (!head) { head = cells; continue; }
    const row = Object.fromEntries(head.map((name, n) => [name, cells[n]]));
    if (row.setting === "never") continue;
    if (row.model === "*") number++;
    if (wanted.has(number)) rows.set(`${number} ${row.model}`, row);
  }
  return rows;
};

// Puts the sliders somewhere by turning one after the other, as a reader does, and reads what stands there.
const moved = (page, seed) => page.evaluate(async (seed) => {
  let state = seed;
  const roll = (n) => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor((state / 2147483648) * n); };
  const family = document.getElementById("family");
  family.selectedIndex = roll(family.options.length);
  family.dispatchEvent(new Event("change"));
  for (const input of document.querySelectorAll("#sliders input")) {
    input.value = roll(Number(input.max) + 1);
    input.dispatchEvent(new Event("input"));
  }
  const shown = (node) => [...node.querySelectorAll("[data-measure]")].map(({ dataset: { measure, v } }) => [measure, v]);
  return {
    cell: Number(document.getElementById("board").dataset.cell),
    params: [...document.querySelectorAll(".slider")].map((slider) => [slider.querySelector("input").dataset.param, slider.querySelector("output").title]),
    figures: shown(document.getElementById("figures")),
    models: [...document.querySelectorAll("#by-model tbody tr")].map((row) => [row.dataset.model, shown(row)]),
  };
}, seed);

export const same = (shown, written) => shown === written || (shown !== "" && written !== "" && Math.abs(Number(shown) - Number(written)) <= 1e-9 * Math.abs(Number(written)));

// Keys alone reach a slider and turn it.
const byKeyboard = async (page, where, say) => {
  // A guard that was replayed with one setting has no slider: another has.
  await page.evaluate(() => {
    const family = document.getElementById("family");
    for (let n = 0; n < family.options.length && !document.querySelector("#sliders input"); n++) {
      family.selectedIndex = n;
      family.dispatchEvent(new Event("change"));
    }
  });
  await page.evaluate(() => [...document.querySelectorAll("#family, #sliders input")].find((node) => node.getClientRects().length).focus());
  for (let n = 0; n < 8 && !(await page.evaluate(() => document.activeElement.type === "range")); n++) await page.keyboard.press("Tab");
  const [before, held] = await page.evaluate(() => [document.getElementById("board").dataset.cell, document.activeElement.value]);
  await page.keyboard.press(held === "0" ? "ArrowRight" : "ArrowLeft");
  if ((await page.evaluate(() => document.getElementById("board").dataset.cell)) === before) say(where, "a key on a slider moves nothing");
};

// The differences of what is shown to scores.csv go to `say`.
export const checkSliders = async (page, path, where, say) => {
  if (!(await page.locator("#board-data").count())) return;
  await page.waitForFunction(() => document.documentElement.dataset.board === "whole", null, { timeout: 30000 }).catch(() => say(where, "the sliders never came"));
  await byKeyboard(page, where, say);
  const places = [];
  for (let n = 1; n <= SAMPLES; n++) places.push(await moved(page, n * 7919));
  const file = join(dirname(path), "scores.csv");
  if (!existsSync(file)) return;
  const rows = await rowsOf(file, new Set(places.map(({ cell }) => cell)));
  let compared = 0;
  for (const { cell, params, figures, models } of places) {
    const together = rows.get(`${cell} *`);
    if (!together) { say(where, `no row of cell ${cell}`); continue; }
    for (const [name, value] of params) if (!same(value, together[`p.${name}`])) say(where, `cell ${cell}: ${name} is ${value} on the slider, ${together[`p.${name}`]} in scores.csv`);
    for (const [name, value] of figures) if (!same(value, together[name])) say(where, `cell ${cell}: ${name} ${value}, not ${together[name]}`);
    for (const [model, values] of models) {
      const row = rows.get(`${cell} ${model}`);
      for (const [name, value] of values) { compared++; if (!same(value, row?.[name])) say(where, `cell ${cell}, ${model}: ${name} ${value}, not ${row?.[name]}`); }
    }
  }
  if (!compared) say(where, "no number was compared");
  console.log(`${where}: ${places.length} places of the sliders, ${compared} numbers as in scores.csv`);
};

// The folds below the charts: the first rows of the CSV files that they name, and each place on the page that a link leads to.
export const checkNumbers = async (page, path, where, say) => {
  const folds = await page.evaluate(() => [...document.querySelectorAll("figure")].map((figure) => ({
    id: figure.id,
    href: figure.querySelector(".numbers a")?.getAttribute("href"),
    head: [...figure.querySelectorAll(".numbers thead th")].map((th) => th.textContent),
    rows: [...figure.querySelectorAll(".numbers tbody tr")].map((row) => [...row.cells].map((cell) => cell.dataset.s ?? cell.firstChild?.textContent ?? "")),
    described: figure.querySelectorAll(".columns dt").length,
  })));
  let compared = 0;
  for (const { id, href, head, rows, described } of folds) {
    if (href !== `charts/${id}.csv`) { say(where, `${id}: no numbers`); continue; }
    const lines = readFileSync(join(dirname(path), href), "utf8").trimEnd().split("\n").map(cellsOf);
    if (head.join() !== lines[0].join() || described !== head.length) say(where, `${id}: columns ${head}, in the file ${lines[0]}`);
    if (rows.length !== Math.min(lines.length - 1, 40)) say(where, `${id}: ${rows.length} rows of ${lines.length - 1}`);
    // Names of strangers are written out in the page, so only numbers are compared.
    rows.forEach((row, n) => row.forEach((cell, at) => {
      if (!/^-?[\d.]+$/.test(cell)) return;
      compared++;
      if (!same(cell, lines[n + 1][at])) say(where, `${id}, row ${n + 1}, ${head[at]}: ${cell}, in the file ${lines[n + 1][at]}`);
    }));
  }
  const dead = await page.evaluate(() => [...document.querySelectorAll("nav a")].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id)));
  dead.forEach((id) => say(where, `a link leads to ${id}, which is not there`));
  console.log(`${where}: ${folds.length} charts with their numbers, ${compared} as in the files`);
};

// Filter, keys and links of the opened transcripts; hidden chars and markup of strangers. U+FFFD is no hidden char, and recordings
// of models hold it.
export const checkDrill = async (page, url, where, say) => {
  const stray = await page.evaluate(() => {
    const found = [...document.querySelectorAll("#drill :is(script, img, iframe, object, embed, form), a:not([href^='#'], figure a[href^='charts/'], .command a[href^='transcripts.html#t='])")].map((node) => node.localName);
    if (document.querySelectorAll("script:not([type='application/json'])").length !== 1) found.push("a script more");
    if (/[\u202a-\u202e\u2066-\u2069\u0000\u001b]/.test(document.body.textContent)) found.push("a hidden char");
    return found;
  });
  stray.forEach((what) => say(where, `from a transcript: ${what}`));
  const cases = page.locator("details.case");
  const all = await cases.count();
  if (all < 2) return;
  const id = await cases.nth(1).getAttribute("id");
  await page.goto("about:blank");
  await page.goto(`${url}#${id}`);
  if (!(await page.evaluate((id) => document.getElementById(id).open, id))) say(where, `the link #${id} opens nothing`);
  const unseen = await page.evaluate((id) => [...document.getElementById(id).querySelectorAll(".text")].filter((box) => {
    const pin = box.querySelector(".pin")?.getBoundingClientRect(), at = box.getBoundingClientRect();
    return pin && (pin.top < at.top || pin.bottom > at.bottom);
  }).length, id);
  if (unseen) say(where, `${unseen} boxes of text do not show their first pin`);
  await page.keyboard.press("j");
  if (!(await page.evaluate(() => document.activeElement.localName === "summary"))) say(where, "the key j leads nowhere");
  await page.keyboard.press("/");
  await page.keyboard.type("no such text anywhere");
  if (await page.evaluate(() => [...document.querySelectorAll("details.case")].some((one) => !one.hidden))) say(where, "the filter hides nothing");
};

// Numbers are rounded as src/numbers.rs rounds them: its test has the same cases.
export const checkRounding = (say) => {
  const script = readFileSync(new URL("../../crates/deadloop-report/templates/numbers.js", import.meta.url), "utf8");
  const { percent, decimal, chars, difference } = new Function(`${script}; return { percent, decimal, chars, difference };`)();
  const cases = [
    [percent(0.985), "99 %"], [percent(0.125), "13 %"], [decimal(0.125), "0.13"], [decimal(-12.25), "−12.3"], [chars(1002.5), "1\u202f003"],
    [decimal(0.1249), "0.12"], [difference(0.79, 0.6, percent), "+19.0 points"], [difference(0.5, 0.5, percent), "±0"],
  ];
  for (const [shown, wanted] of cases) if (shown !== wanted) say("numbers.js", `${shown}, expected ${wanted}`);
};

// How soon a page can be used, ms, and how large it is.
export const checkSpeed = async (page, bytes, where, say) => {
  await page.waitForFunction(() => document.documentElement.dataset.board, null, { timeout: 30000 }).catch(() => {});
  const ready = await page.evaluate(() => performance.getEntriesByName("deadloop-ready")[0]?.startTime);
  const turned = await page.evaluate(() => {
    const input = document.querySelector("#sliders input");
    if (!input) return null;
    const before = performance.now();
    for (const value of [input.max, input.min]) { input.value = value; input.dispatchEvent(new Event("input")); }
    return (performance.now() - before) / 2;
  });
  console.log(`${where}: ${bytes} bytes, sliders after ${ready?.toFixed(0)} ms, ${turned === null ? "no slider to turn" : `a turn ${turned.toFixed(1)} ms`}`);
  if (bytes > 10_000_000) say(where, `${bytes} bytes; expected less than 10 MB`);
  // CI machines are busy: the second that a reader has is printed, and only five fail.
  if (!(ready < 5000)) say(where, `sliders after ${ready} ms; expected less than a second on a quiet machine, five on any`);
};
