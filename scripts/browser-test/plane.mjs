// Points at the plane of a report page, clicks, drags and types there, and holds what follows against scores.csv beside it.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rowsOf, same } from "./sliders.mjs";

const read = (name) => readFileSync(new URL(`../../crates/deadloop-report/templates/${name}.js`, import.meta.url), "utf8");

// What needs no page, against slow obvious twins on generated input.
export const checkSteps = (say) => {
  const script = ["numbers", "measures", "steps"].map(read).join("\n");
  const { under, stairs, bought, nextRate, collected, everyValue, valueOf, percent: write } = new Function(`${script}; return { under, stairs, bought, nextRate, collected, everyValue, valueOf, percent };`)();
  const wrong = (what) => say("steps.js", what);
  let state = 7;
  const roll = (n) => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor((state / 2147483648) * n); };
  for (let turn = 0; turn < 200; turn++) {
    const size = 1 + roll(30);
    const costs = Array.from({ length: size }, () => (roll(12) ? roll(10) : NaN)), merits = Array.from({ length: size }, () => (roll(12) ? roll(8) / 8 : NaN));
    const limit = roll(11);
    const within = costs.map((_, n) => n).filter((n) => costs[n] <= limit && !Number.isNaN(merits[n]));
    const best = within.toSorted((a, b) => merits[b] - merits[a] || costs[a] - costs[b] || a - b)[0] ?? -1;
    const found = under(costs, merits, limit);
    if (found.count !== within.length || found.best !== best) wrong(`under ${limit} of ${costs}: ${JSON.stringify(found)}, expected ${within.length}, ${best}`);
    const rows = [0, 1, 2, 3, 5, 8, 13].filter((n) => n <= limit).map((n) => [n, under(costs, merits, n).best]).filter(([, cell]) => cell >= 0);
    const expected = rows.filter(([, cell], n) => n === 0 || rows[n - 1][1] !== cell).map(([n, cell]) => `${n}:${cell}`).join();
    const shown = stairs(costs, merits, limit).map(({ at_most, cell }) => `${at_most}:${cell}`).join();
    if (shown !== expected) wrong(`stairs ${shown}, expected ${expected}`);
    const [above, below] = [Math.min(...costs.filter((rate) => rate > limit)), Math.max(...costs.filter((rate) => rate < limit))];
    const next = [nextRate(costs, limit, 1), nextRate(costs, limit, -1)].map((rate) => (Number.isNaN(rate) ? "none" : rate)).join();
    const wanted = [above, below].map((rate) => (Number.isFinite(rate) ? rate : "none")).join();
    if (next !== wanted) wrong(`next to ${limit} of ${costs}: ${next}, expected ${wanted}`);
    const measure = { ratios: [{ scale: 1e6, num: [[1, "a", false], [2, "b", true]], den: [[1, "c", false]] }], joined: "alone" };
    const counts = Object.fromEntries(["a", "b", "c"].map((name) => [name, Array.from({ length: size }, () => roll(5))])), worth = { response: 9 };
    const all = everyValue(measure, counts, size, worth);
    for (let n = 0; n < size; n++) if (!Object.is(all[n], valueOf(measure, (name) => counts[name][n], worth) ?? NaN)) wrong(`cell ${n}: ${all[n]}`);
  }
  const points = (gain) => `${(gain * 100).toFixed(1)} points`;
  for (const [shown, wanted] of [
    [bought(0, 2, 0.57, points), "2 more wrong alarms buy 57.0 points"], [bought(1, 2, 0, points), "1 more wrong alarm buys nothing"],
    [bought(2, 3, -0.02, points), "1 more wrong alarm costs 2.0 points: held out it is worse"], [write(0.5), "50 %"],
  ]) if (shown !== wanted) wrong(`${shown}, expected ${wanted}`);
  const file = "# head\ndeployment_loop_rate = 0.003\n\n# why\n[[guard]]\ndetector = \"a\"\n[guard.params]\nlist = [\n [1, 2],\n]\n\n[[model]]\nmatch = \"x*\"\n[[model.guard]]\ndetector = \"b\"\n\n[think]\nr1 = 2\n";
  const own = { model: "a[b", toml: "[[guard]]\ndetector = \"c\"\n[guard.params]\nn = 1\n" };
  const kept = collected(file, [own], "by hand");
  const order = ["# by hand", "deployment_loop_rate", "detector = \"a\"", " [1, 2],", "match = \"a[[]b\"", "[[model.guard]]\ndetector = \"c\"\n[model.guard.params]\nn = 1", "match = \"x*\"", "[think]"];
  const places = order.map((text) => kept.indexOf(text));
  if (places.some((at, n) => at < 0 || (n && at < places[n - 1]))) wrong(`the collected file is out of order (${places}):\n${kept}`);
  const replaced = collected(file, [{ ...own, model: "*" }], "by hand");
  if (replaced.includes("detector = \"a\"") || replaced.includes("[1, 2]") || !replaced.includes("detector = \"c\"") || !replaced.includes("match = \"x*\"")) wrong(`the guard of all models was not replaced:\n${replaced}`);
};

// What is shown, and of which cell and model.
const shown = (page) => page.evaluate(() => ({
  cell: Number(document.getElementById("board").dataset.cell), model: document.getElementById("board").dataset.whose,
  figures: [...document.querySelectorAll("#figures [data-measure]")].map(({ dataset: { measure, v } }) => [measure, v]),
  under: { ...document.getElementById("under").dataset }, limit: document.getElementById("plane-limit").getAttribute("aria-valuenow"),
}));
// Every row of scores.csv, where it is there.
const scoresBeside = async (path) => {
  const file = join(dirname(path), "scores.csv");
  return existsSync(file) ? rowsOf(file, { has: () => true }) : null;
};

const holdFigures = (now, rows, where, say) => {
  const row = rows?.get(`${now.cell} ${now.model}`);
  if (rows && !row) { say(where, `no row of cell ${now.cell}, ${now.model}`); return 0; }
  for (const [name, value] of rows ? now.figures : []) if (!same(value, row[name])) say(where, `cell ${now.cell}, ${now.model}: ${name} ${value}, not ${row[name]}`);
  return rows ? now.figures.length : 0;
};

// The setting under the limit, against all rows of scores.csv.
const holdLimit = (now, limit, rows, [rate, objective], where, say) => {
  const of = [...(rows?.values() ?? [])].filter(({ model }) => model === now.model);
  const within = of.filter((row) => row[rate] !== "" && row[objective] !== "" && Number(row[rate]) <= limit);
  if (!rows) return;
  if (Number(now.under.count) !== within.length) say(where, `${now.under.count} settings under ${limit}, in scores.csv ${within.length}`);
  const best = Math.max(...within.map((row) => Number(row[objective])));
  const found = rows.get(`${now.under.best} ${now.model}`);
  if (within.length && Math.abs(Number(found?.[objective]) - best) > 1e-9) say(where, `the best under ${limit} has ${found?.[objective]}, in scores.csv ${best}`);
};

export const checkPlane = async (page, path, where, say) => {
  const plane = page.locator("#plane");
  if (!(await page.locator("#board-data").count()) || !(await plane.isVisible())) return;
  const rows = await scoresBeside(path);
  const { rate, objective } = await page.evaluate(() => { const data = JSON.parse(document.getElementById("board-data").textContent); return { rate: data.rate[0], objective: data.objective }; });
  await plane.scrollIntoViewIfNeeded();
  const box = await plane.boundingBox();
  let compared = 0;
  // Names stand beside their dots, and none over another.
  const names = await page.evaluate(() => [...document.querySelectorAll("#plane .beside")].map((node) => [node.textContent, node.getBoundingClientRect()]).map(([name, { left, right, top, bottom }]) => ({ name, left, right, top: top + 2, bottom: bottom - 2 })));
  const dots = await page.locator("#plane .named-dot").count();
  if (dots && !names.length) say(where, `${dots} dots with a name, and no name on the plane`);
  names.forEach((one, n) => names.slice(n + 1).forEach((other) => {
    if (one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom) say(where, `${one.name} stands over ${other.name}`);
  }));
  // Pointing and clicking, wherever a dot is.
  let clicked = 0;
  for (let n = 0; n < 400 && clicked < 8; n++) {
    const [x, y] = [box.x + 50 + ((n * 97) % (box.width - 70)), box.y + 30 + ((n * 61) % (box.height - 80))];
    await page.mouse.move(x, y);
    // The browser tells of a pointer once a frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    if (!(await page.evaluate(() => document.getElementById("plane").classList.contains("over")))) continue;
    const told = await page.locator("#tip").textContent();
    await page.mouse.click(x, y);
    const now = await shown(page);
    clicked++;
    compared += holdFigures(now, rows, where, say);
    // What a dot says is its height first.
    const up = await page.locator("#plane-up").inputValue(), height = now.figures.find(([name]) => name === up)[1];
    if (!told.includes(`${up} ${Math.abs(height * 100) >= 9.95 && height <= 0.99 ? (height * 100).toFixed(0) : ""}`)) say(where, `the dot says ${told}, ${up} is ${height}`);
  }
  if (!clicked) say(where, "no dot could be clicked");
  // Keys: from dot to dot, and the limit from rate to rate.
  await plane.focus();
  const before = (await shown(page)).cell;
  let moved = false;
  for (const key of ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"]) {
    await page.keyboard.press(key);
    moved ||= (await shown(page)).cell !== before;
  }
  const after = await shown(page);
  compared += holdFigures(after, rows, where, say);
  if (!moved && clicked > 3) say(where, "the arrow keys lead to no other dot");
  await page.locator("#plane-limit").focus();
  for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End"]) await page.keyboard.press(key);
  // Dragging.
  for (const share of [0.2, 0.45, 0.7]) {
    const grip = await page.locator("#plane-limit .grip").boundingBox();
    await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * share, box.y + 100, { steps: 3 });
    await page.mouse.up();
    const now = await shown(page), limit = await page.evaluate(() => Number(document.getElementById("under").dataset.limit));
    if (!(Math.abs(limit - Number(now.limit)) < 0.01)) say(where, `the limit is ${limit}, a reader hears ${now.limit}`);
    holdLimit(now, limit, rows, [rate, objective], where, say);
    compared += 2;
  }
  if (await page.locator("#under-take").isVisible()) {
    await page.click("#under-take");
    const now = await shown(page);
    if (String(now.cell) !== now.under.best) say(where, `the best is ${now.under.best}, taken was ${now.cell}`);
  }
  // The price list.
  const prices = page.locator("#stairs button");
  for (let n = 0; n < (await prices.count()); n++) {
    await prices.nth(n).click();
    compared += holdFigures(await shown(page), rows, where, say);
  }
  console.log(`${where}: ${clicked} dots clicked, ${compared} numbers of the plane as in scores.csv${rows ? "" : " (which is not there)"}`);
  await checkModels(page, rows, [rate, objective], where, say);
};

// A click on a model: the whole page follows; its setting is collected, copied and saved.
const checkModels = async (page, rows, names, where, say) => {
  const models = await page.evaluate(() => [...document.querySelectorAll("#by-model tbody tr")].map((row) => row.dataset.model).filter((name) => name !== "*"));
  // What the tooltip says of all models does not stay when one is chosen.
  if (models.length) {
    await page.focus("#plane");
    for (const key of ["ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    const told = await page.locator("#tip").isVisible();
    await page.selectOption("#plane-model", "1");
    if (!told || (await page.locator("#tip").isVisible())) say(where, told ? "the tooltip of all models stays on the plane of one" : "the keys of the plane show no tooltip");
    await page.selectOption("#plane-model", "0");
  }
  for (const model of models.slice(0, 3)) {
    await page.locator(`#by-model tbody tr`).nth(models.indexOf(model) + 1).locator("button").click();
    const now = await shown(page);
    if (now.model !== model) { say(where, `a click on ${model} shows ${now.model}`); continue; }
    holdFigures(now, rows, where, say);
    holdLimit(now, now.under.limit === "" ? Infinity : Number(now.under.limit), rows, names, where, say);
    const others = await page.evaluate((model) => {
      const wrong = [...document.querySelectorAll("details.case")].filter((one) => !one.hidden && one.dataset.model !== model).map((one) => one.id);
      const rows = [...document.querySelectorAll("#matrix-rows tr, #flip-rows tr")].filter((row) => row.cells[1] && row.cells[1].textContent !== model);
      return wrong.concat(rows.map((row) => row.textContent.slice(0, 40)));
    }, model);
    if (others.length) say(where, `only ${model} was wanted, and there is ${others[0]}`);
    if (await page.locator("#use").isVisible()) {
      await page.click("#use");
      const text = await page.locator("#mine-toml").textContent();
      if (!text.includes("[[model]]") || !text.includes("[[model.guard]]")) say(where, `the collected settings do not name ${model}:\n${text}`);
      const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#mine-take button").nth(1).click()]);
      if (saved.suggestedFilename() !== "settings.toml" || readFileSync(await saved.path(), "utf8") !== text) say(where, "what is saved is not what is shown");
    }
  }
  if (!models.length) return;
  await page.click("#only-none");
  if ((await shown(page)).model !== "*") say(where, "the way back to all models leads nowhere");
  if (await page.locator("#mine").isVisible()) await page.locator("#mine-list button").first().click();
};

// Copying the file of the verdict, and that it stands on the first screen.
export const checkVerdict = async (page, where, say) => {
  if (!(await page.locator("#advice").count())) return;
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    const low = await page.evaluate(() => ["#advice .badge", "#advice .verdict", "#take"].filter((name) => { const node = document.querySelector(name); return node && node.getBoundingClientRect().bottom > innerHeight; }));
    if (low.length) say(where, `${low.join()} not on the first screen at ${width} px`);
    // What was ended, saved, wrong, and how late.
    const cards = await page.evaluate(() => [...document.querySelectorAll("header .figures section")].map((card) => [card.querySelector("h2").textContent.split(/[: ]/)[0], card.getBoundingClientRect().bottom <= innerHeight]));
    const missing = ["ended", "saved", "wrong", "delay"].filter((name) => !cards.some(([card, seen]) => card === name && (seen || width < 720)));
    if (cards.length && missing.length) say(where, `no card on the first screen at ${width} px: ${missing.join()}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  if (!(await page.locator("#take button").count())) return;
  await page.locator("#take button").first().click();
  await page.waitForFunction(() => /^(copied|selected)/.test(document.querySelector("#take button").textContent), null, { timeout: 1900, polling: 20 }).catch(() => {});
  const [said, text, clip] = await page.evaluate(async () => [document.querySelector("#take button").textContent, document.querySelector("#settings pre").textContent, await navigator.clipboard.readText().catch(() => getSelection().toString())]);
  if (!/^(copied|selected)/.test(said) || clip.trim() !== text.trim()) say(where, `the copy button says ${said}, and copied ${clip.slice(0, 40)}`);
};

// The matrix: fewer rows with only differences; every name opens something.
export const checkMatrix = async (page, where, say) => {
  if (!(await page.locator("#matrix-data").count())) return;
  await page.waitForSelector("#matrix:not([hidden])", { timeout: 20000 }).catch(() => say(where, "the matrix never came"));
  const told = async () => Number((await page.locator("#matrix-told").textContent()).split(" of ")[0].replace(/\D/g, ""));
  await page.locator("#matrix-differ").setChecked(false);
  const all = await told();
  await page.locator("#matrix-differ").setChecked(true);
  const differing = await told();
  const alike = await page.evaluate(() => [...document.querySelectorAll("#matrix-rows tr")].filter((row) => new Set([...row.querySelectorAll("td.sign")].map((cell) => cell.className)).size < 2).length);
  if (differing > all || alike) say(where, `${differing} of ${all} transcripts differ, ${alike} of those shown do not`);
  if (!all) { say(where, "the matrix has no row"); return; }
  if (!differing) await page.locator("#matrix-differ").setChecked(false);
  const dead = await page.evaluate(async () => {
    const dead = [];
    for (const name of [...document.querySelectorAll("#matrix-rows .named, #flip-rows .named")].filter((_, n) => n % 17 === 0)) {
      const before = location.hash, row = name.closest("tr");
      name.click();
      await new Promise((done) => setTimeout(done));
      const opened = document.querySelector(`details.case[open] summary:focus`);
      if (!(opened && location.hash.startsWith("#t=")) && !row.nextElementSibling?.classList.contains("how")) dead.push(`${name.textContent} (${before})`);
    }
    return dead;
  });
  if (dead.length) say(where, `${dead.length} names open nothing: ${dead[0]}`);
  console.log(`${where}: ${differing} of ${all} transcripts on which guards differ`);
};
